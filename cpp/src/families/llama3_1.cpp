// Llama 3.1 to 3.3: llama3/llama-3.1-8b-instruct.jinja; llama-3.2-3b-instruct.jinja lacks built-in tools.
//
//   <|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n
//   Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\nSYSTEM<|eot_id|>
//   <|start_header_id|>user<|end_header_id|>\n\nq<|eot_id|>
//   <|start_header_id|>assistant<|end_header_id|>\n\n{"name": "f", "parameters": {}}<|eot_id|>
//   <|start_header_id|>ipython<|end_header_id|>\n\n"ok"<|eot_id|>
//
// (one line; the breaks are for reading only) The system block is always there. Tools stand in the first
// message after it, which becomes a user's whatever its role, or in the system block.
//
// Departures: the date never comes from the clock; a result without content is empty; with
// `parallel_tool_calls` a turn may hold several calls, separated by "; ", where the template refuses.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "families/llama.hpp"
#include "families/llama_tools.hpp"
#include "text.hpp"
#include "turnloom/error.hpp"

namespace turnloom {
namespace {

class Llama31 final : public Family {
 public:
  Llama31(const Tokenizer& tokenizer, OptionReader& options, std::string_view name, bool has_builtin_tools)
      : Family({.name = name, .tools = true, .prints_content_lists = true, .quotes_string_arguments = true}),
        frame_(tokenizer),
        eom_(require_token(tokenizer, "<|eom_id|>")),
        date_(options.text("date_string").value_or("26 Jul 2024")),
        tools_in_user_message_(options.flag("tools_in_user_message", true)),
        parallel_tool_calls_(options.flag("parallel_tool_calls", false)) {
    if (!has_builtin_tools) return;
    if (auto names = options.texts("builtin_tools")) builtin_tools_.emplace(tokenizer, std::move(*names));
  }

  [[nodiscard]] bool renders_calls(std::string_view role) const override { return role == "assistant"; }
  [[nodiscard]] std::optional<Loss> find_loss(const Turn& turn,
                                              const Conversation& conversation) const override {
    if (holds_tools(turn, conversation) && turn.message.role != "user") {
      return Loss{"role", "renders the message that holds the tools as a user's"};
    }
    if (!turn.message.tool_calls.empty() && !strip(turn.text).empty()) {
      return Loss{"content", "does not render content beside tool calls"};
    }
    return {};
  }

  [[nodiscard]] ListContent list_content(const Turn&, const Conversation&) const override {
    return ListContent::repr;
  }

  std::size_t write_opening(std::span<const Turn> turns, const Conversation& conversation,
                            PromptWriter& out) const override {
    out.control(frame_.begin_of_text);
    const Turn* const system = turns.front().message.role == "system" ? &turns.front() : nullptr;
    write_system(system, conversation, out);
    const std::size_t n_written = system == nullptr ? 0 : 1;
    if (!conversation.has_tools || !tools_in_user_message_) return n_written;
    if (n_written == turns.size()) {
      throw Error(ErrorKind::render, "tools", "they go into the first user message, and there is none");
    }
    out.attribute_to(turns[n_written]);
    frame_.open("user", out);
    write_llama_tools(LlamaToolsPlace::user_message, conversation.tools, out);
    out.stripped_content(turns[n_written].text);
    frame_.close(out);
    return n_written + 1;
  }

  void write_turn(const Turn& turn, PromptWriter& out) const override {
    if (turn.has_tool_calls) {
      write_calls(turn, out);
    } else if (turn.message.role == "tool" || turn.message.role == "ipython") {
      frame_.open("ipython", out);
      write_llama_result(turn, out);
      frame_.close(out);
    } else {
      frame_.open_as_given(turn.message.role, out);
      out.stripped_content(turn.text);
      frame_.close(out);
    }
  }

  void write_generation_prompt(PromptWriter& out) const override { frame_.open("assistant", out); }

  [[nodiscard]] std::vector<ControlToken> stop_tokens() const override {
    return {frame_.eot, frame_.end_of_text, eom_};
  }
  [[nodiscard]] CompletionFormat completion_format() const override {
    return LlamaFrame::completion_format(stop_token_ids(), CallSyntax::llama_json);
  }

 private:
  [[nodiscard]] bool holds_tools(const Turn& turn, const Conversation& conversation) const {
    const bool is_first = turn.index == (conversation.messages.front().role == "system" ? 1 : 0);
    return is_first && conversation.has_tools && tools_in_user_message_;
  }

  void write_system(const Turn* system, const Conversation& conversation, PromptWriter& out) const {
    if (system != nullptr) out.attribute_to(*system);
    frame_.open("system", out);
    if (conversation.has_tools || builtin_tools_) out.literal("Environment: ipython\n");
    if (builtin_tools_) builtin_tools_->write_names(out);
    out.literal("Cutting Knowledge Date: December 2023\nToday Date: ");
    out.literal(date_);
    out.literal("\n\n");
    if (conversation.has_tools && !tools_in_user_message_) {
      write_llama_tools(LlamaToolsPlace::system_block, conversation.tools, out);
    }
    if (system != nullptr) out.stripped_content(system->text);
    frame_.close(out);
    out.attribute_to_none();
  }

  void write_calls(const Turn& turn, PromptWriter& out) const {
    const auto& calls = turn.message.tool_calls;
    if (calls.size() != 1 && !(parallel_tool_calls_ && !calls.empty())) {
      throw Error(ErrorKind::render, "messages[" + std::to_string(turn.index) + "].tool_calls",
                  std::string(traits().name) + " renders exactly one call a turn, got " +
                      std::to_string(calls.size()));
    }
    frame_.open("assistant", out);
    write_llama_calls(turn, builtin_tools_ ? &*builtin_tools_ : nullptr, out);
    out.control(builtin_tools_ ? eom_ : frame_.eot, Field::turn_close);
  }

  LlamaFrame frame_;
  ControlToken eom_;
  std::string date_;
  bool tools_in_user_message_;
  bool parallel_tool_calls_;
  std::optional<LlamaBuiltinTools> builtin_tools_;
};

}  // namespace

std::unique_ptr<const Family> make_llama31(const Tokenizer& tokenizer, OptionReader& options) {
  return std::make_unique<Llama31>(tokenizer, options, "llama-3.1", true);
}

std::unique_ptr<const Family> make_llama32(const Tokenizer& tokenizer, OptionReader& options) {
  return std::make_unique<Llama31>(tokenizer, options, "llama-3.2", false);
}

}  // namespace turnloom
