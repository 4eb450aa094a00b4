#include <unordered_map>

#include "turnloom/renderer.hpp"

namespace turnloom {

std::vector<std::optional<std::string_view>> tool_names(const Conversation& conversation) {
  std::vector<std::optional<std::string_view>> names;
  names.reserve(conversation.messages.size());
  std::unordered_map<std::string_view, std::string_view> name_of_call;
  for (const Message& message : conversation.messages) {
    if (message.role == "assistant") {
      for (const ToolCall& call : message.tool_calls) {
        if (call.id) name_of_call[*call.id] = call.name;
      }
    }
    names.emplace_back();
    if (message.role != "tool") continue;
    std::string_view name = message.name.value_or("");
    if (name.empty()) {
      const auto call = name_of_call.find(message.tool_call_id.value_or(""));
      if (call != name_of_call.end()) name = call->second;
    }
    if (!name.empty()) names.back() = name;
  }
  return names;
}

}  // namespace turnloom
