// What the Qwen families share: tools in the system turn, calls as JSON in tags, results in a user turn.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "families/chatml.hpp"

namespace turnloom {

/// The system turn, with the tools if there are any. `default_system` stands in for a first message that is
/// no system message. Returns how many messages it wrote.
std::size_t write_qwen_opening(const ChatMLFrame& frame, std::span<const Turn> turns,
                               const std::vector<Value>& tools,
                               const std::optional<std::string>& default_system, PromptWriter& out);

/// Calls after the content of the same turn, each on lines of its own.
void write_qwen_calls(const std::vector<ToolCall>& calls, bool after_content, PromptWriter& out);

/// A tool's result. Consecutive ones share a user turn.
void write_qwen_result(const ChatMLFrame& frame, const Turn& turn, PromptWriter& out);

/// system, user, assistant and tool
[[nodiscard]] bool is_qwen_role(std::string_view role) noexcept;

}  // namespace turnloom
