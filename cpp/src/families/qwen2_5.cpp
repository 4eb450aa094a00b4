// Qwen2.5: qwen2.5/qwen2.5-7b-instruct.jinja.
//
//   <|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n
//   <|im_start|>user\nq<|im_end|>\n
//   <|im_start|>assistant\na\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call><|im_end|>\n
//   <|im_start|>user\n<tool_response>\nok\n</tool_response><|im_end|>\n
//
// Departure: no content is empty text and a content list is its texts joined, where the template fails.
#include <optional>
#include <string>
#include <vector>

#include "families/qwen.hpp"

namespace turnloom {
namespace {

class Qwen25 final : public Family {
 public:
  Qwen25(const Tokenizer& tokenizer, OptionReader& options)
      : Family({.name = "qwen2.5",
                .tools = true,
                .prints_content_lists = true,
                .quotes_string_arguments = true,
                .after_close = ChatMLFrame::kAfterClose}),
        frame_(tokenizer),
        end_of_text_(require_token(tokenizer, "<|endoftext|>")),
        default_system_(options.text("default_system")) {}

  [[nodiscard]] bool renders_role(std::string_view role) const override { return is_qwen_role(role); }
  [[nodiscard]] bool renders_calls(std::string_view role) const override { return role == "assistant"; }

  [[nodiscard]] ListContent list_content(const Turn& turn, const Conversation& conversation) const override {
    // The template prints these two by themselves; all others it adds to a string, and fails.
    const bool is_before_tools =
        turn.is_first && turn.message.role == "system" && !conversation.tools.empty();
    return turn.message.role == "tool" || is_before_tools ? ListContent::repr : ListContent::join;
  }

  std::size_t write_opening(std::span<const Turn> turns, const Conversation& conversation,
                            PromptWriter& out) const override {
    return write_qwen_opening(frame_, turns, conversation.tools, default_system_, out);
  }

  void write_turn(const Turn& turn, PromptWriter& out) const override {
    if (turn.message.role == "tool") return write_qwen_result(frame_, turn, out);
    frame_.open(turn.message.role, out);
    out.content(turn.text);
    if (turn.message.role == "assistant") write_qwen_calls(turn.message.tool_calls, !turn.text.empty(), out);
    frame_.close(out);
  }

  void write_generation_prompt(PromptWriter& out) const override { frame_.open("assistant", out); }

  [[nodiscard]] std::vector<ControlToken> stop_tokens() const override {
    return {frame_.im_end, end_of_text_};
  }
  [[nodiscard]] CompletionFormat completion_format() const override {
    return ChatMLFrame::completion_format(stop_token_ids(), CallSyntax::tagged_json);
  }

 private:
  ChatMLFrame frame_;
  ControlToken end_of_text_;
  std::optional<std::string> default_system_;
};

}  // namespace

std::unique_ptr<const Family> make_qwen25(const Tokenizer& tokenizer, OptionReader& options) {
  return std::make_unique<Qwen25>(tokenizer, options);
}

}  // namespace turnloom
