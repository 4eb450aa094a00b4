// One attempt at a call: `{"name": ..., "arguments": ...}`, read as it comes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parse/json_scanner.hpp"
#include "parse/response_writer.hpp"

namespace turnloom {

/// What an object has to be to be a call.
struct CallShape {
  std::span<const std::string_view> arguments_keys;  ///< it has one of these
  /// Arguments have to be an object. There may be none for a known tool.
  bool needs_object = false;
  std::span<const std::string> known_tools = {};
};

class CallReader {
 public:
  /// Reads from `begin` of the decoded text on. Tells `out`, unless it is null, as soon as the name is known.
  CallReader(const CallShape& shape, std::size_t first_token, std::size_t begin, ResponseWriter* out)
      : shape_(shape), first_token_(first_token), begin_(begin), out_(out) {}

  /// Reads on to `end`. Stops, and returns where, behind the value if `stop_behind_value`.
  std::size_t read(std::string_view text, std::size_t at, std::size_t end, bool stop_behind_value);

  [[nodiscard]] const JsonScanner& scanner() const noexcept { return scanner_; }
  /// Whether a complete value is a call, or would be one if its name were a string.
  [[nodiscard]] bool is_call() const;

  /// Ends it at `end` of the text, where its format ends it.
  void close(std::string_view text, std::size_t end, std::size_t end_token);
  /// Ends it where nothing closes it.
  void break_off(std::string_view text, std::size_t end, std::size_t end_token);

 private:
  /// A member of the object: its value among the nodes.
  struct Found {
    std::size_t n_times = 0;
    std::optional<std::size_t> node;  ///< of the first one
    bool complete = false;
  };

  void take_event(JsonScanner::Event event, std::string_view text);
  void tell(std::string_view text, std::size_t at);
  [[nodiscard]] bool is_string(const Found& found) const;
  [[nodiscard]] bool has_object() const;
  [[nodiscard]] CallStatus status() const;
  void finish(CallStatus status, std::string_view text, std::size_t end, std::size_t end_token);

  CallShape shape_;
  std::size_t first_token_;
  std::size_t begin_;
  ResponseWriter* out_;
  JsonScanner scanner_;
  Found name_member_;
  Found arguments_member_;
  Found* member_ = nullptr;          ///< the one that is being read, if it counts
  std::optional<std::string> name_;  ///< once it is complete; never empty
  bool is_open_ = false;
  std::size_t n_told_ = 0;  ///< bytes of the text
};

}  // namespace turnloom
