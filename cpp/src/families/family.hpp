// What a chat format is to the engine: its literals and its real differences. The walk over messages, the
// checks for losses, the emission of pieces and their attribution are the engine's.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prompt_writer.hpp"
#include "turnloom/renderer.hpp"
#include "turnloom/types.hpp"

namespace turnloom {

/// One message in its place.
struct Turn {
  const Message& message;
  std::size_t index;
  /// The content as the template sees it: differs from `message.text` only for lists, see ListContent.
  std::string_view text;
  /// Whether the template sees a string: None and no content are none, a list only where it is joined.
  bool text_is_string;
  /// Whether the template sees `tool_calls`; an empty list counts with OnLoss::template_text only.
  bool has_tool_calls;
  bool is_first;  ///< of the conversation; never of messages that go one on
  bool is_last;
  std::string_view previous_role;  ///< empty for the first message of the conversation
  std::string_view next_role;      ///< empty for the last message
  bool after_last_query = false;   ///< stands after the last message for which `is_query` holds
};

/// What a template makes of a content list. Only `OnLoss::template_text` shows it; otherwise texts are
/// joined.
enum class ListContent {
  join,  ///< the texts joined (also where the template crashes on a list)
  drop,  ///< empty text
  repr,  ///< the list as Python prints it
};

/// A part of a message that the template drops, or renders as something else than it is.
struct Loss {
  std::string_view key;     ///< of the message, such as "content"
  std::string_view reason;  ///< follows the name of the family: "does not render ..."
};

/// The facts about a format that decide what would be lost.
struct FamilyTraits {
  std::string_view name;  ///< as in configs and error messages
  bool tools = false;     ///< tool specs are rendered
  /// A content list may have to be printed: `list_content` is ListContent::repr, or a result is JSON.
  bool prints_content_lists = false;
  /// A call's arguments given as JSON text are rendered as a JSON string of that text. Only
  /// `OnLoss::template_text` does so; otherwise the text stands as it is.
  bool quotes_string_arguments = false;
  bool can_lose = true;               ///< a caller may accept losses, by OnLoss::template_text
  std::string_view after_close = {};  ///< what stands between the close of a turn and the next turn
  /// What the template keeps of earlier reasoning, as its options are.
  ThinkingRetention retention = ThinkingRetention::all;
  /// Appending turns leaves what was rendered before as it was.
  bool is_prefix_stable = true;
};

class Family {
 public:
  explicit Family(const FamilyTraits& traits) : traits_(traits) {}
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  virtual ~Family() = default;

  [[nodiscard]] const FamilyTraits& traits() const noexcept { return traits_; }

  /// Whether messages, tool calls and reasoning under that role are rendered.
  [[nodiscard]] virtual bool renders_role(std::string_view) const { return true; }
  [[nodiscard]] virtual bool renders_calls(std::string_view) const { return false; }
  [[nodiscard]] virtual bool renders_reasoning(std::string_view) const { return false; }
  /// What the template makes of the content list of a message.
  [[nodiscard]] virtual ListContent list_content(const Turn&, const Conversation&) const {
    return ListContent::join;
  }
  /// What else of the message would be lost.
  [[nodiscard]] virtual std::optional<Loss> find_loss(const Turn&, const Conversation&) const { return {}; }
  /// Whether the message asks something of the model, which ends what the format keeps of reasoning before
  /// it.
  [[nodiscard]] virtual bool is_query(const Turn&) const { return false; }

  /// Writes what stands before the turns. Returns how many leading messages it wrote itself.
  virtual std::size_t write_opening(std::span<const Turn> turns, const Conversation& conversation,
                                    PromptWriter& out) const = 0;
  virtual void write_turn(const Turn& turn, PromptWriter& out) const = 0;
  virtual void write_generation_prompt(PromptWriter& out) const = 0;

  /// What ends a turn of the model, the canonical close first.
  [[nodiscard]] virtual std::vector<ControlToken> stop_tokens() const = 0;
  [[nodiscard]] virtual CompletionFormat completion_format() const = 0;

  [[nodiscard]] std::vector<TokenId> stop_token_ids() const;

 private:
  FamilyTraits traits_;
};

/// Throws Error (value) naming the token if the vocabulary lacks it.
[[nodiscard]] ControlToken require_token(const Tokenizer& tokenizer, std::string_view text);

/// The options a config gave, read by the family's constructor.
class OptionReader {
 public:
  explicit OptionReader(const RendererConfig& config) : config_(config) {}

  [[nodiscard]] bool flag(std::string_view name, bool fallback);
  [[nodiscard]] std::optional<std::string> text(std::string_view name);
  [[nodiscard]] std::optional<std::vector<std::string>> texts(std::string_view name);
  /// Throws Error (value) if an option was given that nothing read.
  void check_all_read() const;

 private:
  template <typename T>
  std::optional<T> read(std::string_view name, std::string_view expected);
  const OptionValue* find(std::string_view name);

  const RendererConfig& config_;
  std::set<std::string_view> read_;
};

using FamilyFactory = std::unique_ptr<const Family> (*)(const Tokenizer&, OptionReader&);

/// Throws Error (key) naming the families there are, if `config.family` is none of them.
[[nodiscard]] std::unique_ptr<const Family> make_family(const Tokenizer& tokenizer,
                                                        const RendererConfig& config);

}  // namespace turnloom
