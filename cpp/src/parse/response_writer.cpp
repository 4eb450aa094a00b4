#include "parse/response_writer.hpp"

#include <algorithm>
#include <utility>

#include "text.hpp"

namespace turnloom {

void StrippedText::add(std::string_view piece) {
  if (text_.empty()) {
    const std::string_view begun = lstrip(piece);
    space_before_ += piece.substr(0, piece.size() - begun.size());
    piece = begun;
  }
  const std::string_view solid = rstrip(piece);
  if (!solid.empty()) n_solid_ = text_.size() + solid.size();
  text_ += piece;
}

std::string_view StrippedText::news(std::size_t end) noexcept {
  const std::size_t begin = std::exchange(n_told_, std::max(n_told_, end));
  return std::string_view(text_).substr(begin, n_told_ - begin);
}

void ResponseWriter::leave_reasoning_open() {
  reasoning_open_ = true;
  if (deltas_ == nullptr) return;
  tell(Delta::Kind::reasoning, reasoning_.news(reasoning_.text().size()));
  deltas_->push_back({.kind = Delta::Kind::reasoning_unfinished, .text = reasoning_.space_before()});
}

void ResponseWriter::open_call(const std::optional<std::string>& name) {
  if (deltas_ == nullptr) return;
  tell_texts();
  deltas_->push_back({.kind = Delta::Kind::call_open, .text = {}, .call = calls_.size(), .name = name});
}

void ResponseWriter::arguments(std::string_view text) {
  if (deltas_ == nullptr || text.empty()) return;
  if (!deltas_->empty() && deltas_->back().kind == Delta::Kind::arguments) {
    deltas_->back().text += text;
  } else {
    deltas_->push_back({.kind = Delta::Kind::arguments, .text = std::string(text), .call = calls_.size()});
  }
}

void ResponseWriter::close_call(ParsedCall&& call) {
  if (deltas_ != nullptr) {
    deltas_->push_back({.kind = Delta::Kind::call_close,
                        .text = {},
                        .call = calls_.size(),
                        .name = {},
                        .status = call.status});
  }
  calls_.push_back(std::move(call));
}

void ResponseWriter::tell_texts() {
  if (deltas_ == nullptr) return;
  tell(Delta::Kind::reasoning, reasoning_.news(reasoning_.stripped().size()));
  tell(Delta::Kind::content, content_.news(content_.stripped().size()));
}

void ResponseWriter::tell(Delta::Kind kind, std::string_view text) {
  if (!text.empty()) deltas_->push_back({.kind = kind, .text = std::string(text)});
}

void ResponseWriter::move_to(ParsedCompletion& completion) {
  completion.content = content_.take_stripped();
  completion.reasoning_complete = !reasoning_open_;
  if (reasoning_open_) {
    completion.reasoning = reasoning_.space_before() + std::string(reasoning_.text());
  } else if (!reasoning_.stripped().empty()) {
    completion.reasoning = reasoning_.take_stripped();
  }
  completion.calls = std::move(calls_);
}

}  // namespace turnloom
