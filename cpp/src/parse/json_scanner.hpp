// Strict JSON that comes in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "turnloom/parse.hpp"

namespace turnloom {

[[nodiscard]] constexpr bool is_json_space(char byte) noexcept {
  return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

/// Finds the end of a JSON string, byte by byte.
class StringScanner {
 public:
  enum class Step : std::uint8_t { inside, closed, failed };

  /// Whether the next byte is a character's, and not part of an escape.
  [[nodiscard]] bool between_characters() const noexcept { return escape_ == 0; }
  [[nodiscard]] bool has_escapes() const noexcept { return has_escapes_; }
  Step step(char byte) noexcept;

 private:
  std::uint8_t escape_ = 0;  ///< bytes to come: of `\n` 1; `\u` sets 4 more
  bool after_backslash_ = false;
  bool has_escapes_ = false;
};

/// Reads one value, as Python's `json` does but for three things: NaN and Infinity, more than 501 levels, and
/// integers of more than 4,300 digits, which Python does not print, are errors.
class JsonScanner {
 public:
  enum class Event : std::uint8_t {
    more,         ///< all of the text was read
    key,          ///< a key of the outermost object ended; it is the last node
    value_begin,  ///< a value of the outermost object begins; it is the last node
    value_end,    ///< that value ended
    complete,     ///< the outermost value ended
    failed,
  };

  /// Reads `text[at, end)`, which continues what was read before, up to an event, and moves `at` behind what
  /// was read. `text` is the same every time, but longer.
  Event scan(std::string_view text, std::size_t& at, std::size_t end);
  /// Ends the text at `at`. Returns whether it was a value.
  bool finish(std::size_t at);

  [[nodiscard]] bool begun() const noexcept { return !nodes_.empty(); }
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  [[nodiscard]] bool failed() const noexcept { return state_ == State::failed; }
  [[nodiscard]] bool in_string() const noexcept {
    return state_ == State::string && string_.between_characters();
  }
  /// Whether that byte may stand behind the string that is open, white space left aside.
  [[nodiscard]] bool may_follow_string(char byte) const noexcept;
  [[nodiscard]] const std::vector<JsonNode>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::vector<JsonNode> take_nodes() noexcept { return std::move(nodes_); }

 private:
  enum class State : std::uint8_t {
    value,
    first_element,  ///< or `]`
    key,
    first_key,  ///< or `}`
    colon,
    comma,  ///< or the end of the container
    string,
    literal,
    // Numbers: after the minus, a leading zero, a digit, the point, ...
    minus,
    zero,
    integer,
    point,
    fraction,
    exponent,
    exponent_sign,
    exponent_digits,
    failed,
  };

  [[nodiscard]] static bool is_number(State state) noexcept {
    return state >= State::minus && state <= State::exponent_digits;
  }
  [[nodiscard]] bool in_outermost_object() const noexcept;
  Event begin_value(char byte, std::size_t at);
  void begin_node(JsonNode::Kind kind, std::size_t at);
  Event end_node(std::size_t node, std::size_t end);
  Event scan_string(std::string_view text, std::size_t& at, std::size_t end);
  /// Whether the number goes on with that byte.
  bool continue_number(char byte) noexcept;
  Event end_number(std::size_t end);
  Event fail() noexcept;

  State state_ = State::value;
  bool string_is_key_ = false;
  bool complete_ = false;
  StringScanner string_;
  std::string_view rest_;          ///< of a literal
  std::size_t n_digits_ = 0;       ///< of an integer
  std::vector<std::size_t> open_;  ///< containers: their nodes
  std::vector<JsonNode> nodes_;
};

}  // namespace turnloom
