// Reasoning that stands in the content of a message, between `<think>` and `</think>`.
#pragma once

#include <string_view>

namespace turnloom {

constexpr std::string_view kThinkOpen = "<think>";
constexpr std::string_view kThinkClose = "</think>";

struct ThinkBlock {
  std::string_view reasoning;
  std::string_view content;
};

/// Splits as the templates of Qwen3 and those after it do: reasoning is what stands before the first close
/// and after the last open before that; content is what stands after the last close. Newlines around both go.
[[nodiscard]] ThinkBlock split_think_block(std::string_view text) noexcept;

/// Whether that split drops any text but white space.
[[nodiscard]] bool think_block_loses_text(std::string_view text) noexcept;

}  // namespace turnloom
