// Completions to messages: text, reasoning and tool calls, whole or as they arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "turnloom/types.hpp"

namespace turnloom {

class Tokenizer;

/// What every token adds to a text. Immutable.
class TokenBytes {
 public:
  /// Token `i` is `bytes[begins[i], begins[i + 1])`; nothing for an id that there is not.
  TokenBytes(std::string bytes, std::vector<std::size_t> begins);

  [[nodiscard]] std::string_view of(TokenId id) const noexcept {
    const auto index = static_cast<std::size_t>(id);
    if (index >= is_utf8_.size()) return {};
    return std::string_view(bytes_).substr(begins_[index], begins_[index + 1] - begins_[index]);
  }
  /// Whether the bytes are whole characters.
  [[nodiscard]] bool is_utf8(TokenId id) const noexcept {
    const auto index = static_cast<std::size_t>(id);
    return index >= is_utf8_.size() || is_utf8_[index] != 0;
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> begins_;
  std::vector<std::uint8_t> is_utf8_;
};

/// How a format writes calls.
enum class CallSyntax : std::uint8_t {
  none,
  tagged_json,  ///< `<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>`
  llama_json,   ///< `{"name": "f", "parameters": {}}`, the whole answer or behind `<|python_tag|>`
};

/// What completions of a family look like. The views are of literals.
struct CompletionFormat {
  std::vector<TokenId> stop_tokens;
  /// A control token that begins the header of the assistant's turn; empty where none is known.
  std::string_view header_token;
  std::string_view header;  ///< what follows it in that header
  CallSyntax calls = CallSyntax::none;
  bool has_reasoning = false;  ///< between `<think>` and `</think>`
};

/// Bytes `[begin, end)` of ParsedCompletion::text.
struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A value of a JSON text, in an array that holds the values in the order in which they begin. What is in a
/// container follows it; an object's keys and values alternate.
struct JsonNode {
  enum class Kind : std::uint8_t { null, false_value, true_value, integer, real, string, array, object };

  Kind kind;
  bool has_escapes = false;  ///< of a string
  TextSpan text;             ///< quotes and brackets included
  std::size_t next = 0;      ///< index behind the value and all that is in it
};

/// What became of an attempt at a call.
enum class CallStatus : std::uint8_t {
  ok,
  invalid_json,
  unclosed_block,
  missing_name,
  malformed_structure,
  unknown_tool,
};

struct ParsedCall {
  CallStatus status = CallStatus::ok;
  TextSpan raw;                           ///< without the markers and white space around it
  std::optional<std::string> name;        ///< never empty
  std::vector<JsonNode> nodes;            ///< of the JSON text, as far as it was read
  std::optional<std::size_t> name_value;  ///< in `nodes`, whatever its kind
  /// The arguments in `nodes`, unless they are missing or not to be had.
  std::optional<std::size_t> arguments;
  bool has_no_arguments = false;  ///< none were written, which is an empty object
  std::size_t first_token = 0;    ///< tokens `[first_token, end_token)` of the completion, markers included
  std::size_t end_token = 0;
};

struct ParsedCompletion {
  std::string text;  ///< all that was decoded
  std::string content;
  std::optional<std::string> reasoning;
  bool reasoning_complete = true;
  std::size_t n_reasoning_tokens = 0;  ///< up to the end of the reasoning, its close marker included
  std::vector<ParsedCall> calls;
};

/// A piece of a completion, as it is decided.
struct Delta {
  enum class Kind : std::uint8_t {
    content,
    reasoning,
    reasoning_unfinished,  ///< `text` is the white space in front of it
    call_open,
    arguments,
    call_close,
  };

  Kind kind;
  std::string text = {};
  std::size_t call = 0;                  ///< of the last three: index of the call
  std::optional<std::string> name = {};  ///< of call_open
  CallStatus status = CallStatus::ok;    ///< of call_close
};

/// The string that a node of kind string stands for: escapes resolved, half a character is U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text, const JsonNode& node);

class BoundFormat;
class CompletionAutomaton;

/// One completion that comes in parts. For one thread at a time.
class CompletionStream {
 public:
  CompletionStream(std::shared_ptr<const BoundFormat> format, bool starts_in_reasoning,
                   std::vector<std::string> known_tools);
  CompletionStream(CompletionStream&&) noexcept;
  CompletionStream& operator=(CompletionStream&&) noexcept;
  ~CompletionStream();

  /// Appends what the ids decide to `deltas`. Constant cost per token. Ids after a stop token are ignored.
  void feed(std::span<const TokenId> ids, std::vector<Delta>& deltas);
  /// Ends the completion and appends what was held back.
  void end(std::vector<Delta>& deltas);
  /// Ends the completion and gives it away: to be called last, and once.
  [[nodiscard]] ParsedCompletion finish();

 private:
  std::unique_ptr<CompletionAutomaton> automaton_;
};

/// Parses completions of one format and vocabulary. Immutable: any number of threads may use one.
class CompletionParser {
 public:
  /// Throws Error (value) if the vocabulary lacks the header token.
  CompletionParser(const Tokenizer& tokenizer, std::shared_ptr<const TokenBytes> token_bytes,
                   const CompletionFormat& format);
  ~CompletionParser();

  /// `known_tools` are the names that may be called without arguments, where the format asks for some. Linear
  /// in the length of the completion, and in that of the last turn of the prompt.
  [[nodiscard]] ParsedCompletion parse(std::span<const TokenId> ids, std::span<const TokenId> prompt_ids,
                                       std::span<const std::string> known_tools) const;
  /// The same for many, on `threads` threads. `prompt_ids` is empty, or has one entry a completion.
  [[nodiscard]] std::vector<ParsedCompletion> parse_batch(
      std::span<const std::span<const TokenId>> completions,
      std::span<const std::span<const TokenId>> prompts, std::span<const std::string> known_tools,
      std::size_t threads) const;
  [[nodiscard]] CompletionStream stream(std::span<const TokenId> prompt_ids,
                                        std::vector<std::string> known_tools) const;
  /// The part of the turn that each token of a completion is: a value of Field. Of a token the first byte
  /// counts, as in a rendered turn. Where the bytes of a call are no text, all of it is call markup.
  [[nodiscard]] std::vector<std::uint8_t> fields(std::span<const TokenId> ids,
                                                 std::span<const TokenId> prompt_ids,
                                                 std::span<const std::string> known_tools) const;
  /// Whether a prompt and what was sampled from it end inside reasoning.
  [[nodiscard]] bool ends_in_reasoning(std::span<const TokenId> prompt_ids,
                                       std::span<const TokenId> ids) const;
  [[nodiscard]] bool is_stop(TokenId id) const noexcept;

 private:
  std::shared_ptr<const BoundFormat> format_;
};

}  // namespace turnloom
