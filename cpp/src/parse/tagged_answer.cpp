// Calls as JSON between tags: those of Hermes, Qwen2.5 and Qwen3.
//
//   <tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>
#include <array>
#include <optional>

#include "parse/answer.hpp"
#include "parse/call_reader.hpp"
#include "parse/string_with_markers.hpp"
#include "text.hpp"

namespace turnloom {
namespace {

constexpr std::array<std::string_view, 1> kArgumentsKeys = {"arguments"};

class TaggedAnswer final : public Answer {
 public:
  explicit TaggedAnswer(ResponseWriter& out) : out_(out) {}

  void take(const Item& item, std::string_view text) override {
    if (in_marked_string_) {
      take_in_string(item, text);
    } else if (call_) {
      take_in_block(item, text);
    } else if (item.kind == Item::Kind::call_open) {
      open_block(item);
    } else {
      out_.content(text_of(item, text));
    }
  }

 private:
  void open_block(const Item& opener) {
    call_.emplace(CallShape{.arguments_keys = kArgumentsKeys}, opener.first_token, opener.end, &out_);
    has_text_ = false;
  }

  void take_in_block(const Item& item, std::string_view text) {
    const bool is_marker = item.kind == Item::Kind::call_open || item.kind == Item::Kind::call_close;
    if (is_marker && call_->scanner().in_string()) {
      string_.begin(item, call_->scanner(), text);
      in_marked_string_ = true;
    } else {
      take_outside_string(item, text);
    }
  }

  void take_outside_string(const Item& item, std::string_view text) {
    switch (item.kind) {
      case Item::Kind::call_close:
        call_->close(text, item.begin, item.end_token);
        call_.reset();
        break;
      case Item::Kind::end:
        call_->break_off(text, item.begin, item.first_token);
        call_.reset();
        break;
      case Item::Kind::call_open:
        if (has_text_) {
          call_->break_off(text, item.begin, item.first_token);
          open_block(item);
          break;
        }
        // Openers that follow one another are the text of one bad call.
        read(item, text);
        break;
      default:
        read(item, text);
    }
  }

  void read(const Item& item, std::string_view text) {
    if (!has_text_ && item.kind != Item::Kind::call_open) has_text_ = !lstrip(text_of(item, text)).empty();
    call_->read(text, item.begin, item.end, false);
  }

  void take_in_string(const Item& item, std::string_view text) {
    const StringWithMarkers::Answer answer = string_.take(item, call_->scanner(), text);
    if (answer == StringWithMarkers::Answer::undecided) return;
    in_marked_string_ = false;
    const std::vector<Item> held = string_.take_held();
    if (answer == StringWithMarkers::Answer::text) {
      for (const Item& part : held) read(part, text);
    } else {
      take_outside_string(held.front(), text);
      for (const Item& part : std::span(held).subspan(1)) take(part, text);
    }
    take(item, text);
  }

  ResponseWriter& out_;
  std::optional<CallReader> call_;  ///< of the block that is open
  bool has_text_ = false;           ///< there is more in the block than white space and openers
  bool in_marked_string_ = false;
  StringWithMarkers string_;
};

class PlainAnswer final : public Answer {
 public:
  explicit PlainAnswer(ResponseWriter& out) : out_(out) {}

  void take(const Item& item, std::string_view text) override { out_.content(text_of(item, text)); }

 private:
  ResponseWriter& out_;
};

}  // namespace

std::unique_ptr<Answer> make_plain_answer(ResponseWriter& out) { return std::make_unique<PlainAnswer>(out); }

std::unique_ptr<Answer> make_tagged_answer(ResponseWriter& out) {
  return std::make_unique<TaggedAnswer>(out);
}

}  // namespace turnloom
