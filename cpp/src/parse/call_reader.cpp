#include "parse/call_reader.hpp"

#include <algorithm>
#include <utility>

#include "text.hpp"

namespace turnloom {
namespace {

// Bytes of white space at the beginning, as Python's `str.strip` has it.
std::size_t n_space_before(std::string_view text) { return text.size() - lstrip(text).size(); }

}  // namespace

std::size_t CallReader::read(std::string_view text, std::size_t at, std::size_t end, bool stop_behind_value) {
  while (at < end && !scanner_.failed()) {
    if (!scanner_.begun() || scanner_.complete()) {
      if (scanner_.complete() && stop_behind_value) return at;
      at += n_space_before(text.substr(at, end - at));
      if (at == end) break;
    }
    take_event(scanner_.scan(text, at, end), text);
    tell(text, at);
  }
  return scanner_.failed() ? end : at;
}

void CallReader::take_event(JsonScanner::Event event, std::string_view text) {
  const std::size_t last = scanner_.nodes().size() - 1;
  switch (event) {
    case JsonScanner::Event::key: {
      const JsonNode& key = scanner_.nodes()[last];
      const std::string name = json_string(text, key);
      member_ = nullptr;
      if (name == "name") {
        member_ = &name_member_;
      } else if (std::ranges::find(shape_.arguments_keys, name) != shape_.arguments_keys.end()) {
        member_ = &arguments_member_;
      }
      if (member_ != nullptr && ++member_->n_times > 1) member_ = nullptr;
      break;
    }
    case JsonScanner::Event::value_begin:
      if (member_ != nullptr) member_->node = last;
      break;
    case JsonScanner::Event::value_end:
      if (member_ == nullptr) break;
      member_->complete = true;
      if (member_ == &name_member_ && is_string(name_member_)) {
        name_ = json_string(text, scanner_.nodes()[*name_member_.node]);
        if (name_->empty()) name_.reset();
      }
      break;
    default:
      break;
  }
}

void CallReader::tell(std::string_view text, std::size_t at) {
  if (out_ == nullptr || !name_) return;
  if (!std::exchange(is_open_, true)) out_->open_call(name_);
  if (!arguments_member_.node) return;
  const TextSpan& span = scanner_.nodes()[*arguments_member_.node].text;
  const std::size_t begin = std::max(span.begin, n_told_);
  n_told_ = arguments_member_.complete ? span.end : at;
  if (begin < n_told_) out_->arguments(text.substr(begin, n_told_ - begin));
}

bool CallReader::is_call() const {
  const CallStatus judged = status();
  return judged == CallStatus::ok ||
         (judged == CallStatus::malformed_structure && name_member_.node && has_object());
}

void CallReader::close(std::string_view text, std::size_t end, std::size_t end_token) {
  const bool is_json = scanner_.finish(end);
  finish(is_json ? status() : CallStatus::invalid_json, text, end, end_token);
}

void CallReader::break_off(std::string_view text, std::size_t end, std::size_t end_token) {
  finish(CallStatus::unclosed_block, text, end, end_token);
}

bool CallReader::is_string(const Found& found) const {
  return scanner_.nodes()[*found.node].kind == JsonNode::Kind::string;
}

bool CallReader::has_object() const {
  return arguments_member_.node && scanner_.nodes()[*arguments_member_.node].kind == JsonNode::Kind::object;
}

CallStatus CallReader::status() const {
  if (!name_member_.node) return CallStatus::missing_name;
  if (name_member_.n_times > 1 || arguments_member_.n_times > 1 || !is_string(name_member_)) {
    return CallStatus::malformed_structure;
  }
  if (!name_) return CallStatus::missing_name;
  if (shape_.needs_object && !has_object()) {
    const bool is_known = arguments_member_.n_times == 0 &&
                          std::ranges::find(shape_.known_tools, *name_) != shape_.known_tools.end();
    return is_known ? CallStatus::ok : CallStatus::malformed_structure;
  }
  return CallStatus::ok;
}

void CallReader::finish(CallStatus status, std::string_view text, std::size_t end, std::size_t end_token) {
  if (!is_open_) out_->open_call(name_);
  ParsedCall call;
  call.status = status;
  const std::string_view block = text.substr(begin_, end - begin_);
  call.raw.begin = begin_ + n_space_before(block);
  call.raw.end = call.raw.begin + strip(block).size();
  call.name = std::move(name_);
  const bool is_cut = status == CallStatus::unclosed_block;
  if (status != CallStatus::invalid_json && !scanner_.failed()) {
    if (arguments_member_.complete) {
      call.arguments = arguments_member_.node;
    } else {
      call.has_no_arguments = !is_cut;
    }
  }
  call.name_value = name_member_.node;
  call.nodes = scanner_.take_nodes();
  call.first_token = first_token_;
  call.end_token = end_token;
  out_->close_call(std::move(call));
}

}  // namespace turnloom
