// The one place where pieces are made: families write through it and never set an attribution themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "turnloom/json.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {

struct Turn;

/// A token that a family writes by id.
struct ControlToken {
  std::string text;
  TokenId id = kNoToken;
};

/// Appends pieces to a prompt. Everything written belongs to the message that `attribute_to` named last.
class PromptWriter {
 public:
  /// What follows belongs to that turn's message.
  void attribute_to(const Turn& turn);
  /// What follows belongs to no message.
  void attribute_to_none();

  void control(const ControlToken& token, Field field = Field::scaffold);
  /// Text of the template itself: markers in it are tokens.
  void literal(std::string_view text, Field field = Field::scaffold);
  /// Text the caller passed: the marker policy applies.
  void caller_text(std::string_view text, Field field);
  /// The body of the message. Its end is where `continue_final_message` cuts, also when it is empty.
  void content(std::string_view text);
  /// The body of the message without white space around it.
  void stripped_content(std::string_view text);
  /// The body of the message as JSON; the body of a string ends before its closing quote.
  void json_content(const Value& value);
  /// `value` as JSON, as text the caller passed.
  void json(const Value& value, Field field, const JsonStyle& style = {});
  /// A call's arguments: a string as it is, anything else as JSON.
  void arguments(const Value& value);
  /// From here on `arguments` writes strings as JSON, too.
  void quote_string_arguments() noexcept { quotes_string_arguments_ = true; }

  /// The last body written.
  struct Body {
    std::int32_t message = kNoMessage;
    std::size_t end = 0;
    bool is_stripped = false;
  };
  [[nodiscard]] const Body& last_body() const noexcept { return last_body_; }

  [[nodiscard]] Prompt& prompt() noexcept { return prompt_; }

 private:
  void end_piece(std::size_t begin, Field field, Source source, TokenId token);
  [[nodiscard]] Source caller_source(Field field) const noexcept;

  Prompt prompt_;
  std::int32_t message_ = kNoMessage;
  bool is_assistant_ = false;
  bool is_author_ = false;
  bool quotes_string_arguments_ = false;
  Body last_body_;
};

}  // namespace turnloom
