// Qwen3: qwen3/qwen3.jinja and its revisions qwen3-first, qwen3-instruct-2507 and qwen3-next-80b.
//
//   <|im_start|>user\nq<|im_end|>\n
//   <|im_start|>assistant\n<think>\nr\n</think>\n\na\n
//   <tool_call>\n{"name": "f", "arguments": {}}\n</tool_call><|im_end|>\n
//   <|im_start|>user\n<tool_response>\nok\n</tool_response><|im_end|>\n
//
// Reasoning is kept after the last query only; there the last assistant message has a think block even when
// it is empty. The tags are literals: the marker scan finds them where the vocabulary has them.
// Departure: text beside an inline think block, which the template drops, is a loss.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "families/qwen.hpp"
#include "families/think_block.hpp"
#include "text.hpp"
#include "turnloom/error.hpp"
#include "turnloom/json.hpp"

namespace turnloom {
namespace {

constexpr std::string_view kEmptyThinkBlock = "<think>\n\n</think>\n\n";

struct Revision {
  std::string_view name;
  bool reasoning;       ///< reasoning is rendered, and thinking can be switched
  ListContent lists;    ///< of content
  bool opens_thinking;  ///< the generation prompt ends in an open think block, and there is no switch
};

constexpr std::array kRevisions = {
    Revision{"current", true, ListContent::drop, false},
    Revision{"first", true, ListContent::repr, false},
    Revision{"instruct-2507", false, ListContent::drop, false},
    Revision{"next", true, ListContent::drop, true},
};

const Revision& find_revision(const std::string& name) {
  const auto revision = std::ranges::find(kRevisions, name, &Revision::name);
  if (revision != kRevisions.end()) return *revision;
  throw Error(ErrorKind::value, "config.revision", "unknown revision " + quoted(name));
}

class Qwen3 final : public Family {
 public:
  Qwen3(const Tokenizer& tokenizer, OptionReader& options, const Revision& revision)
      : Family({.name = "qwen3",
                .tools = true,
                .prints_content_lists = revision.lists != ListContent::drop,
                .after_close = ChatMLFrame::kAfterClose,
                .retention = revision.reasoning && options.flag("enable_thinking", true)
                                 ? ThinkingRetention::tool_cycle
                                 : ThinkingRetention::all,
                .is_prefix_stable = !revision.reasoning}),
        revision_(revision),
        frame_(tokenizer),
        end_of_text_(require_token(tokenizer, "<|endoftext|>")),
        enable_thinking_(options.flag("enable_thinking", true)),
        reemit_empty_thinking_(options.flag("reemit_empty_thinking", false)) {
    if (!enable_thinking_ && (!revision.reasoning || revision.opens_thinking)) {
      throw Error(ErrorKind::value, "config.enable_thinking",
                  "the revision " + quoted(revision.name) + " cannot switch thinking off");
    }
  }

  [[nodiscard]] bool renders_role(std::string_view role) const override { return is_qwen_role(role); }
  [[nodiscard]] bool renders_calls(std::string_view role) const override { return role == "assistant"; }
  [[nodiscard]] bool renders_reasoning(std::string_view role) const override {
    return revision_.reasoning && role == "assistant";
  }
  [[nodiscard]] bool is_query(const Turn& turn) const override {
    return turn.message.role == "user" && turn.text_is_string &&
           !(turn.text.starts_with("<tool_response>") && turn.text.ends_with("</tool_response>"));
  }
  [[nodiscard]] ListContent list_content(const Turn& turn, const Conversation&) const override {
    const bool opens = turn.is_first && turn.message.role == "system";
    // Every revision fails on a list in the opening, and the first one everywhere but in results.
    const bool fails = opens || (revision_.lists == ListContent::repr && turn.message.role != "tool");
    return fails ? ListContent::join : revision_.lists;
  }
  [[nodiscard]] std::optional<Loss> find_loss(const Turn& turn, const Conversation&) const override {
    const bool is_split = renders_reasoning(turn.message.role) && !turn.message.reasoning;
    if (!is_split || !think_block_loses_text(turn.text)) return {};
    return Loss{"content", "does not render text beside a think block"};
  }

  std::size_t write_opening(std::span<const Turn> turns, const Conversation& conversation,
                            PromptWriter& out) const override {
    return write_qwen_opening(frame_, turns, conversation.tools, std::nullopt, out);
  }

  void write_turn(const Turn& turn, PromptWriter& out) const override {
    if (turn.message.role == "tool") return write_qwen_result(frame_, turn, out);
    frame_.open(turn.message.role, out);
    if (turn.message.role == "assistant") {
      write_body(turn, out);
    } else {
      out.content(turn.text);
    }
    frame_.close(out);
  }

  void write_generation_prompt(PromptWriter& out) const override {
    frame_.open("assistant", out);
    if (revision_.opens_thinking) out.literal("<think>\n");
    if (!enable_thinking_) out.literal(kEmptyThinkBlock);
  }

  [[nodiscard]] std::vector<ControlToken> stop_tokens() const override {
    return {frame_.im_end, end_of_text_};
  }
  [[nodiscard]] CompletionFormat completion_format() const override {
    return ChatMLFrame::completion_format(stop_token_ids(), CallSyntax::tagged_json, revision_.reasoning);
  }

 private:
  [[nodiscard]] ThinkBlock think_block(const Turn& turn) const {
    if (!revision_.reasoning) return {{}, turn.text};
    return turn.message.reasoning ? ThinkBlock{*turn.message.reasoning, turn.text}
                                  : split_think_block(turn.text);
  }

  void write_body(const Turn& turn, PromptWriter& out) const {
    const auto [reasoning, content] = think_block(turn);
    const bool in_place = turn.after_last_query && (turn.is_last || !reasoning.empty());
    const bool reemitted = reemit_empty_thinking_ && !enable_thinking_ && reasoning.empty();
    if (revision_.reasoning && (in_place || reemitted)) {
      out.literal("<think>\n", Field::reasoning_markup);
      out.caller_text(strip_newlines(reasoning), Field::reasoning);
      out.literal("\n</think>\n\n", Field::reasoning_markup);
      out.content(lstrip_newlines(content));
    } else {
      out.content(content);
    }
    write_qwen_calls(turn.message.tool_calls, !content.empty(), out);
  }

  const Revision& revision_;
  ChatMLFrame frame_;
  ControlToken end_of_text_;
  bool enable_thinking_;
  bool reemit_empty_thinking_;
};

}  // namespace

std::unique_ptr<const Family> make_qwen3(const Tokenizer& tokenizer, OptionReader& options) {
  const Revision& revision = find_revision(options.text("revision").value_or("current"));
  return std::make_unique<Qwen3>(tokenizer, options, revision);
}

}  // namespace turnloom
