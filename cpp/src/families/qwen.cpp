#include "families/qwen.hpp"

#include <utility>

namespace turnloom {
namespace {

constexpr std::string_view kToolsHeader =
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with "
    "function signatures within <tools></tools> XML tags:\n<tools>";
constexpr std::string_view kToolsFooter =
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": "
    "<args-json-object>}\n</tool_call>";

}  // namespace

std::size_t write_qwen_opening(const ChatMLFrame& frame, std::span<const Turn> turns,
                               const std::vector<Value>& tools,
                               const std::optional<std::string>& default_system, PromptWriter& out) {
  const Turn* const system = turns.front().message.role == "system" ? &turns.front() : nullptr;
  const bool has_text = system != nullptr || default_system.has_value();
  if (tools.empty() && !has_text) return 0;
  if (system != nullptr) out.attribute_to(*system);
  frame.open("system", out);
  if (system != nullptr) {
    out.content(system->text);
  } else if (default_system) {
    out.literal(*default_system);
  }
  if (!tools.empty()) {
    if (has_text) out.literal("\n\n");
    out.literal(kToolsHeader);
    for (const Value& tool : tools) {
      out.literal("\n");
      out.json(tool, Field::tool_spec);
    }
    out.literal(kToolsFooter);
  }
  frame.close(out);
  return system == nullptr ? 0 : 1;
}

void write_qwen_calls(const std::vector<ToolCall>& calls, bool after_content, PromptWriter& out) {
  for (const ToolCall& call : calls) {
    if (std::exchange(after_content, true)) out.literal("\n", Field::call_markup);
    out.literal("<tool_call>\n{\"name\": \"", Field::call_markup);
    out.caller_text(call.name, Field::tool_name);
    out.literal("\", \"arguments\": ", Field::call_markup);
    out.arguments(call.arguments);
    out.literal("}\n</tool_call>", Field::call_markup);
  }
}

void write_qwen_result(const ChatMLFrame& frame, const Turn& turn, PromptWriter& out) {
  if (turn.previous_role != "tool") {
    out.control(frame.im_start);
    out.literal("user");
  }
  out.literal("\n<tool_response>\n");
  out.content(turn.text);
  out.literal("\n</tool_response>");
  if (turn.next_role != "tool") frame.close(out);
}

bool is_qwen_role(std::string_view role) noexcept {
  return role == "user" || role == "assistant" || role == "system" || role == "tool";
}

}  // namespace turnloom
