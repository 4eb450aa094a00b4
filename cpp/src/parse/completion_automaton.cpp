#include "parse/completion_automaton.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "text.hpp"

namespace turnloom {
namespace {

std::unique_ptr<Answer> make_answer(CallSyntax calls, ResponseWriter& out,
                                    std::span<const std::string> known_tools) {
  switch (calls) {
    case CallSyntax::tagged_json:
      return make_tagged_answer(out);
    case CallSyntax::llama_json:
      return make_llama_answer(out, known_tools);
    default:
      return make_plain_answer(out);
  }
}

}  // namespace

CompletionAutomaton::CompletionAutomaton(std::shared_ptr<const BoundFormat> format, bool starts_in_reasoning,
                                         std::vector<std::string> known_tools)
    : format_(std::move(format)),
      starts_in_reasoning_(starts_in_reasoning),
      known_tools_(std::move(known_tools)),
      reader_(*format_),
      answer_(make_answer(format_->format().calls, out_, known_tools_)) {}

void CompletionAutomaton::feed(std::span<const TokenId> ids, std::vector<Delta>* deltas) {
  out_.set_deltas(deltas);
  while (!ids.empty() && !reader_.ended()) {
    ids = ids.subspan(reader_.read(ids, items_));
    take_items();
  }
  out_.tell_texts();
}

void CompletionAutomaton::end(std::vector<Delta>* deltas) {
  if (reader_.ended()) return;
  out_.set_deltas(deltas);
  reader_.end(items_);
  take_items();
  out_.tell_texts();
}

ParsedCompletion CompletionAutomaton::take_result() {
  ParsedCompletion completion;
  completion.text = reader_.take_text();
  completion.n_reasoning_tokens = n_reasoning_tokens_;
  out_.move_to(completion);
  return completion;
}

CompletionAutomaton::State CompletionAutomaton::behind_header() const noexcept {
  if (!format_->format().has_reasoning) return State::answer;
  return starts_in_reasoning_ ? State::reasoning : State::before_reasoning;
}

void CompletionAutomaton::take_items() {
  for (const Item& item : items_) take(item);
}

void CompletionAutomaton::take(const Item& item) {
  switch (state_) {
    case State::start:
      if (item.kind == Item::Kind::header) {
        state_ = State::header;
        held_.push_back(item);
        return;
      }
      state_ = behind_header();
      return take(item);
    case State::header:
      return take_in_header(item);
    case State::before_reasoning:
      return take_before_reasoning(item);
    case State::reasoning:
      return take_in_reasoning(item);
    case State::draft_or_call:
      return take_in_draft(item);
    case State::answer:
      return answer_->take(item, reader_.text());
  }
}

void CompletionAutomaton::take_in_header(const Item& item) {
  const std::string_view rest = format_->format().header.substr(n_header_);
  const std::string_view read = text_of(item, reader_.text());
  const std::size_t n_common = std::min(rest.size(), read.size());
  if (item.kind == Item::Kind::end || rest.substr(0, n_common) != read.substr(0, n_common)) {
    return take_held(behind_header(), item);
  }
  n_header_ += n_common;
  held_.push_back(item);
  if (n_common < rest.size()) return;
  held_.clear();
  state_ = behind_header();
  if (n_common == read.size()) return;
  Item remainder = item;
  remainder.begin += n_common;
  take(remainder);
}

void CompletionAutomaton::take_before_reasoning(const Item& item) {
  if (item.kind == Item::Kind::think_open) {
    held_.clear();
    state_ = State::reasoning;
  } else if (item.kind == Item::Kind::text && lstrip(text_of(item, reader_.text())).empty()) {
    held_.push_back(item);
  } else {
    take_held(State::answer, item);
  }
}

void CompletionAutomaton::take_in_reasoning(const Item& item) {
  switch (item.kind) {
    case Item::Kind::think_open:
      break;
    case Item::Kind::think_close:
      state_ = State::answer;
      n_reasoning_tokens_ = item.end_token;
      break;
    case Item::Kind::end:
      out_.leave_reasoning_open();
      n_reasoning_tokens_ = item.first_token;
      break;
    case Item::Kind::call_open:
      state_ = State::draft_or_call;
      held_.push_back(item);
      break;
    default:
      out_.reasoning(text_of(item, reader_.text()));
  }
}

void CompletionAutomaton::take_in_draft(const Item& item) {
  if (item.kind == Item::Kind::think_close) {
    for (const Item& drafted : std::exchange(held_, {})) {
      if (drafted.kind != Item::Kind::think_open) out_.reasoning(text_of(drafted, reader_.text()));
    }
    state_ = State::answer;
    n_reasoning_tokens_ = item.end_token;
  } else if (item.kind == Item::Kind::end) {
    n_reasoning_tokens_ = held_.front().first_token;
    take_held(State::answer, item);
  } else {
    held_.push_back(item);
  }
}

void CompletionAutomaton::take_held(State state, const Item& item) {
  state_ = state;
  for (const Item& held : std::exchange(held_, {})) take(held);
  take(item);
}

bool leaves_reasoning_open(const BoundFormat& format, std::span<const TokenId> prompt_ids) {
  if (!format.format().has_reasoning) return false;
  const auto last_stop =
      std::find_if(prompt_ids.rbegin(), prompt_ids.rend(), [&](TokenId id) { return format.is_stop(id); });
  const auto turn = prompt_ids.last(static_cast<std::size_t>(std::distance(prompt_ids.rbegin(), last_stop)));
  ItemReader reader(format);
  std::vector<Item> items;
  std::vector<Item> read;
  for (auto rest = turn; !rest.empty();) {
    rest = rest.subspan(reader.read(rest, read));
    items.insert(items.end(), read.begin(), read.end());
  }
  const std::string_view text = reader.text();
  std::size_t begin = 0;
  for (const Item& item : items) {
    if (item.kind == Item::Kind::header && text.substr(item.end).starts_with(format.format().header)) {
      begin = item.end + format.format().header.size();
    }
  }
  bool is_open = false;
  for (const Item& item : items) {
    if (item.end <= begin) continue;
    switch (item.kind) {
      case Item::Kind::think_open:
        is_open = true;
        break;
      case Item::Kind::think_close:
        return false;
      default:
        if (!is_open &&
            !lstrip(text.substr(std::max(item.begin, begin), item.end - std::max(item.begin, begin)))
                 .empty()) {
          return false;
        }
    }
  }
  return is_open;
}

}  // namespace turnloom
