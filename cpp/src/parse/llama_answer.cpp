// Calls as Llama 3.1 to 3.3 write them: JSON that is the whole answer, or stands behind `<|python_tag|>`.
//
//   {"name": "f", "parameters": {}}
//   {"name": "f", "parameters": {}}; {"name": "g", "parameters": {}}
//   [{"name": "f", "parameters": {}}, {"name": "g", "parameters": {}}]
//   <|python_tag|>{"name": "f", "parameters": {}}
//
// An answer that begins with JSON is one of calls when its first object is a call and only white space or
// another object follows; until then all of it is held back, and then read again as what it is. What stands
// behind the tag is a call in any case, if it begins like one.
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "parse/answer.hpp"
#include "parse/call_reader.hpp"
#include "parse/string_with_markers.hpp"
#include "text.hpp"

namespace turnloom {
namespace {

constexpr std::array<std::string_view, 2> kArgumentsKeys = {"parameters", "arguments"};

class LlamaAnswer final : public Answer {
 public:
  LlamaAnswer(ResponseWriter& out, std::span<const std::string> known_tools)
      : out_(out), known_tools_(known_tools) {}

  void take(const Item& item, std::string_view text) override {
    if (is_trial_) trial_.push_back(item);
    dispatch(item, text);
  }

 private:
  enum class State : std::uint8_t {
    content,
    before_list,    ///< a `[` or the `{` of a call comes next
    before_object,  ///< behind a `[`
    object,
    marked_string,  ///< in an object
    after_object,
    after_separator,
  };

  void dispatch(const Item& item, std::string_view text) {
    if (state_ == State::marked_string) {
      take_in_string(item, text);
    } else if (item.kind == Item::Kind::end) {
      take_end(item, text);
    } else if (item.kind == Item::Kind::call_open) {
      take_tag(item, text);
    } else {
      take_text(item, text);
    }
  }

  void take_text(Item item, std::string_view text) {
    while (item.begin < item.end) {
      switch (state_) {
        case State::content:
          out_.content(text_of(item, text));
          return;
        case State::object:
          item.begin = call_->read(text, item.begin, item.end, true);
          if (call_->scanner().complete() && !end_object(item, text)) return;
          if (call_ && call_->scanner().failed() && is_trial_) return fail_trial(text);
          break;
        default:
          item.begin += text_of(item, text).size() - lstrip(text_of(item, text)).size();
          if (item.begin == item.end) return;
          if (!take_punctuation(item, text)) return;
      }
    }
  }

  // Takes a character outside of objects. Returns false if the item is done with.
  bool take_punctuation(Item& item, std::string_view text) {
    const char byte = text[item.begin];
    if (byte == '{' && state_ != State::after_object) {
      if (is_trial_ && state_ == State::after_separator) {
        commit(text);
        return false;
      }
      open_object(item);
      return true;
    }
    if (byte == '[' && state_ == State::before_list) {
      in_list_ = true;
      state_ = State::before_object;
    } else if (byte == ']' && state_ == State::after_object && in_list_) {
      in_list_ = false;
    } else if (byte == (in_list_ ? ',' : ';') && state_ == State::after_object) {
      state_ = State::after_separator;
    } else {
      return leave_calls(item.begin, text);
    }
    ++item.begin;
    return true;
  }

  void open_object(const Item& item) {
    const CallShape shape{
        .arguments_keys = kArgumentsKeys, .needs_object = true, .known_tools = known_tools_};
    call_.emplace(shape, tag_token_.value_or(item.first_token), item.begin, is_trial_ ? nullptr : &out_);
    tag_token_.reset();
    state_ = State::object;
  }

  // Returns false if the item is done with.
  bool end_object(const Item& item, std::string_view text) {
    if (is_trial_) {
      if (!call_->is_call()) {
        fail_trial(text);
        return false;
      }
    } else {
      call_->close(text, item.begin, item.end_token);
    }
    call_.reset();
    state_ = State::after_object;
    held_begin_ = item.begin;
    return true;
  }

  void take_tag(const Item& tag, std::string_view text) {
    switch (state_) {
      case State::object:
        if (call_->scanner().in_string()) {
          string_.begin(tag, call_->scanner(), text);
          state_ = State::marked_string;
          return;
        }
        if (is_trial_) return fail_trial(text);
        break_object(tag, text);
        break;
      case State::content:
        break;
      default:
        if (!leave_calls(tag.begin, text)) return;
    }
    state_ = State::before_list;
    in_list_ = false;
    tag_token_ = tag.first_token;
    held_begin_ = tag.begin;
  }

  void take_end(const Item& end, std::string_view text) {
    if (is_trial_) {
      const bool is_call = !in_list_ && (state_ == State::after_object || state_ == State::after_separator);
      return is_call ? commit(text) : fail_trial(text);
    }
    switch (state_) {
      case State::object:
        break_object(end, text);
        break;
      case State::before_list:
      case State::before_object:
        leave_calls(end.begin, text);
        break;
      default:  // at the end, what separates calls goes with them
        break;
    }
  }

  void break_object(const Item& item, std::string_view text) {
    if (call_->scanner().failed()) {
      call_->close(text, item.begin, item.first_token);
    } else {
      call_->break_off(text, item.begin, item.first_token);
    }
    call_.reset();
  }

  void take_in_string(const Item& item, std::string_view text) {
    const StringWithMarkers::Answer answer = string_.take(item, call_->scanner(), text);
    if (answer == StringWithMarkers::Answer::undecided) return;
    state_ = State::object;
    const std::vector<Item> held = string_.take_held();
    if (answer == StringWithMarkers::Answer::text) {
      for (const Item& part : held) call_->read(text, part.begin, part.end, true);
    } else {
      if (is_trial_) return fail_trial(text);
      break_object(held.front(), text);
      state_ = State::content;
      for (const Item& part : held) dispatch(part, text);
    }
    dispatch(item, text);
  }

  // What was held since the last call, or since the tag, is content. Returns false if the item is done with.
  bool leave_calls(std::size_t end, std::string_view text) {
    if (is_trial_) {
      fail_trial(text);
      return false;
    }
    out_.content(text.substr(held_begin_, end - held_begin_));
    state_ = State::content;
    return true;
  }

  void fail_trial(std::string_view text) { read_again(State::content, text); }
  void commit(std::string_view text) { read_again(State::before_list, text); }

  void read_again(State state, std::string_view text) {
    is_trial_ = false;
    call_.reset();
    in_list_ = false;
    state_ = state;
    for (const Item& item : std::exchange(trial_, {})) dispatch(item, text);
  }

  ResponseWriter& out_;
  std::span<const std::string> known_tools_;
  State state_ = State::before_list;
  bool is_trial_ = true;     ///< it is not decided whether the answer is one of calls
  std::vector<Item> trial_;  ///< all of the answer, until then
  bool in_list_ = false;
  std::optional<std::size_t> tag_token_;  ///< of the tag before the next object
  std::size_t held_begin_ = 0;            ///< where what may be content begins, outside of objects
  std::optional<CallReader> call_;
  StringWithMarkers string_;
};

}  // namespace

std::unique_ptr<Answer> make_llama_answer(ResponseWriter& out, std::span<const std::string> known_tools) {
  return std::make_unique<LlamaAnswer>(out, known_tools);
}

}  // namespace turnloom
