// Conversations in, prompts and token columns out.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "turnloom/bridge.hpp"
#include "turnloom/columns.hpp"
#include "turnloom/loss.hpp"
#include "turnloom/parse.hpp"
#include "turnloom/prompt.hpp"
#include "turnloom/tokenizer.hpp"
#include "turnloom/types.hpp"

namespace turnloom {

class Family;
struct ColumnChoice;

/// What happens where a template would drop or repr-print what the caller passed.
enum class OnLoss : std::uint8_t { raise, template_text };

/// What is kept of the reasoning of earlier turns: all of it, or that of the turns since the last query.
enum class ThinkingRetention : std::uint8_t { tool_cycle, all };

/// Options of a family by the names of its config fields; those that are absent have their default.
using OptionValue = std::variant<std::monostate, bool, std::string, std::vector<std::string>>;
using FamilyOptions = std::map<std::string, OptionValue, std::less<>>;

struct RendererConfig {
  std::string family;
  FamilyOptions options;
  MarkerPolicy marker_policy = MarkerPolicy::trusted;
  OnLoss on_loss = OnLoss::raise;
  std::optional<ThinkingRetention> thinking_retention =
      std::nullopt;  ///< none: as the family's options imply
};

struct RenderOptions {
  bool add_generation_prompt = false;
  bool continue_final_message = false;
  bool byte_offsets = false;
};

struct BatchRow {
  const Conversation* conversation;  ///< null for a row that stays empty
  const LossRule* loss = nullptr;    ///< null for LossRule{}
};

struct RenderedColumns {
  TokenColumns columns;
  std::vector<MarkerHit> markers;
};

/// Rows of a batch one after the other: row r is `[offsets[r], offsets[r + 1])` of every column.
struct BatchColumns {
  TokenColumns columns;
  std::vector<std::int64_t> offsets;
  std::vector<std::pair<std::size_t, MarkerHit>> markers;          ///< row, marker
  std::vector<std::pair<std::size_t, std::exception_ptr>> errors;  ///< row, why it is empty
};

/// Spellings that some family uses as control tokens: markers of a vocabulary that has them as added tokens,
/// special or not.
[[nodiscard]] std::span<const std::string_view> declared_markers() noexcept;

/// The tool that each message of role "tool" answers for: its `name`, else the name of the earlier assistant
/// call with its `tool_call_id`. None where neither is there, and for other roles.
[[nodiscard]] std::vector<std::optional<std::string_view>> tool_names(const Conversation& conversation);

/// A family bound to a tokenizer. Immutable: any number of threads may render with one.
class Renderer {
 public:
  /// Throws Error if the family or an option is unknown, or the vocabulary lacks a control token.
  Renderer(std::shared_ptr<const Tokenizer> tokenizer, const RendererConfig& config);
  ~Renderer();

  [[nodiscard]] Prompt render_prompt(const Conversation& conversation, const RenderOptions& options) const;
  [[nodiscard]] RenderedColumns render(const Conversation& conversation, const RenderOptions& options,
                                       const LossRule& loss = {}) const;
  /// Renders on `threads` threads, which are started here and joined before it returns. A row that fails is
  /// empty and listed in `errors`, in row order; a null row is empty and not listed.
  [[nodiscard]] BatchColumns render_batch(std::span<const BatchRow> rows, const RenderOptions& options,
                                          std::size_t threads) const;
  /// Extends a prompt and what was sampled from it by new messages, none of them an assistant's. `parser` is
  /// one of this renderer's format. Linear in the completion, the new messages and the last turn of the
  /// prompt. Throws Error (render) if something in the messages would be lost.
  [[nodiscard]] BridgeOutcome bridge(const CompletionParser& parser, std::span<const TokenId> prompt_ids,
                                     std::span<const TokenId> completion_ids,
                                     const Conversation& new_messages, bool allow_trim) const;
  [[nodiscard]] ThinkingRetention thinking_retention() const noexcept { return thinking_retention_; }
  /// Whether appending turns leaves the ids of a full render as they were. A promise, never a guess.
  [[nodiscard]] bool is_prefix_stable() const noexcept;
  [[nodiscard]] std::vector<TokenId> stop_token_ids() const;
  /// What the model's completions look like.
  [[nodiscard]] CompletionFormat completion_format() const;
  /// Whether it needs `Message::content_list`.
  [[nodiscard]] bool prints_content_lists() const noexcept;
  [[nodiscard]] const Tokenizer& tokenizer() const noexcept { return *tokenizer_; }

 private:
  /// Appends the tokens of a prompt and returns the markers in it.
  std::vector<MarkerHit> encode(Prompt prompt, const ColumnChoice& choice, TokenColumns& columns) const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<const Family> family_;
  MarkerPolicy marker_policy_;
  OnLoss on_loss_;
  ThinkingRetention thinking_retention_;
};

}  // namespace turnloom
