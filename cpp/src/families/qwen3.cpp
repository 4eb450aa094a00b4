// Qwen3: qwen3/qwen3.jinja, the template's current revision.
//
//   <|im_start|>user\nq<|im_end|>\n
//   <|im_start|>assistant\n<think>\nr\n</think>\n\na\n<tool_call>\n{"name": "f", "arguments":
//   {}}\n</tool_call><|im_end|>\n
//   <|im_start|>user\n<tool_response>\nok\n</tool_response><|im_end|>\n
//
// Reasoning is kept after the last query only; there the last assistant message has a think block even when
// it is empty. The think and tool tags are literals: the marker scan finds them where the vocabulary has
// them.
//
// Departure: text beside an inline think block, which the template drops, is a loss.
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "families/chatml.hpp"
#include "text.hpp"

namespace turnloom {
namespace {

constexpr std::string_view kToolsHeader =
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with "
    "function signatures within <tools></tools> XML tags:\n<tools>";
constexpr std::string_view kToolsFooter =
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": "
    "<args-json-object>}\n</tool_call>";

constexpr std::string_view kThinkOpen = "<think>";
constexpr std::string_view kThinkClose = "</think>";

struct Body {
  std::string_view reasoning;
  std::string_view content;
};

Body split_reasoning(const Turn& turn) {
  if (turn.message.reasoning) return {*turn.message.reasoning, turn.text};
  const std::size_t first_close = turn.text.find(kThinkClose);
  if (first_close == std::string_view::npos) return {{}, turn.text};
  std::string_view reasoning = rstrip_newlines(turn.text.substr(0, first_close));
  if (const auto open = reasoning.rfind(kThinkOpen); open != std::string_view::npos) {
    reasoning.remove_prefix(open + kThinkOpen.size());
  }
  const std::size_t last_close = turn.text.rfind(kThinkClose);
  return {lstrip_newlines(reasoning), lstrip_newlines(turn.text.substr(last_close + kThinkClose.size()))};
}

class Qwen3 final : public Family {
 public:
  Qwen3(const Tokenizer& tokenizer, OptionReader& options)
      : Family({.name = "qwen3",
                .list_content = ListContent::drop,
                .opening_list_content = ListContent::join,  // the template fails there
                .tools = true}),
        frame_(tokenizer),
        end_of_text_(require_token(tokenizer, "<|endoftext|>")),
        enable_thinking_(options.flag("enable_thinking", true)) {}

  [[nodiscard]] bool renders_role(std::string_view role) const override {
    return role == "user" || role == "assistant" || role == "system" || role == "tool";
  }
  [[nodiscard]] bool renders_calls(std::string_view role) const override { return role == "assistant"; }
  [[nodiscard]] bool renders_reasoning(std::string_view role) const override { return role == "assistant"; }
  [[nodiscard]] bool is_query(const Turn& turn) const override {
    return turn.message.role == "user" && turn.text_is_string &&
           !(turn.text.starts_with("<tool_response>") && turn.text.ends_with("</tool_response>"));
  }

  [[nodiscard]] std::string_view lost_text(const Turn& turn) const override {
    if (turn.message.role != "assistant" || turn.message.reasoning) return {};
    const std::size_t close = turn.text.find(kThinkClose);
    if (close == std::string_view::npos) return {};
    const std::size_t open = turn.text.substr(0, close).rfind(kThinkOpen);
    const bool has_text_before = open != std::string_view::npos && !strip(turn.text.substr(0, open)).empty();
    return has_text_before || turn.text.rfind(kThinkClose) != close ? "text beside a think block" : "";
  }

  std::size_t write_opening(std::span<const Turn> turns, const Conversation& conversation,
                            PromptWriter& out) const override {
    if (conversation.tools.empty()) return 0;
    const Turn* const system = turns.front().message.role == "system" ? &turns.front() : nullptr;
    if (system != nullptr) out.attribute_to(*system);
    frame_.open("system", out);
    if (system != nullptr) {
      out.content(system->text);
      out.literal("\n\n");
    }
    out.literal(kToolsHeader);
    for (const Value& tool : conversation.tools) {
      out.literal("\n");
      out.json(tool, Field::tool_spec);
    }
    out.literal(kToolsFooter);
    frame_.close(out);
    return system == nullptr ? 0 : 1;
  }

  void write_turn(const Turn& turn, PromptWriter& out) const override {
    if (turn.message.role == "assistant") {
      write_assistant(turn, out);
    } else if (turn.message.role == "tool") {
      write_tool(turn, out);
    } else {
      frame_.open(turn.message.role, out);
      out.content(turn.text);
      frame_.close(out);
    }
  }

  void write_generation_prompt(PromptWriter& out) const override {
    frame_.open("assistant", out);
    if (!enable_thinking_) out.literal("<think>\n\n</think>\n\n");
  }

  [[nodiscard]] std::vector<TokenId> stop_token_ids() const override {
    return {frame_.im_end.id, end_of_text_.id};
  }

 private:
  void write_assistant(const Turn& turn, PromptWriter& out) const {
    const auto [reasoning, content] = split_reasoning(turn);
    frame_.open("assistant", out);
    if (turn.after_last_query && (turn.is_last || !reasoning.empty())) {
      out.literal("<think>\n", Field::reasoning_markup);
      out.caller_text(strip_newlines(reasoning), Field::reasoning);
      out.literal("\n</think>\n\n", Field::reasoning_markup);
      out.content(lstrip_newlines(content));
    } else {
      out.content(content);
    }
    bool needs_newline = !content.empty();
    for (const ToolCall& call : turn.message.tool_calls) {
      if (std::exchange(needs_newline, true)) out.literal("\n", Field::call_markup);
      out.literal("<tool_call>\n{\"name\": \"", Field::call_markup);
      out.caller_text(call.name, Field::tool_name);
      out.literal("\", \"arguments\": ", Field::call_markup);
      out.arguments(call.arguments);
      out.literal("}\n</tool_call>", Field::call_markup);
    }
    frame_.close(out);
  }

  // Consecutive tool messages share one user turn.
  void write_tool(const Turn& turn, PromptWriter& out) const {
    if (turn.previous_role != "tool") {
      out.control(frame_.im_start);
      out.literal("user");
    }
    out.literal("\n<tool_response>\n");
    out.content(turn.text);
    out.literal("\n</tool_response>");
    if (turn.next_role != "tool") frame_.close(out);
  }

  ChatMLFrame frame_;
  ControlToken end_of_text_;
  bool enable_thinking_;
};

}  // namespace

std::unique_ptr<const Family> make_qwen3(const Tokenizer& tokenizer, OptionReader& options) {
  return std::make_unique<Qwen3>(tokenizer, options);
}

}  // namespace turnloom
