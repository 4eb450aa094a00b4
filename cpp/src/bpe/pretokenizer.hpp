// Splitting text into pre-tokens, as the split patterns of tokenizer.json files do.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace turnloom {

/// The patterns known. Python recognises them by their exact text and gives their names.
enum class SplitPattern : std::uint8_t {
  gpt2,         ///< also ByteLevel's own pattern
  cl100k,       ///< Llama 3, GLM 4.5 and later
  qwen2,        ///< cl100k with digits one by one
  qwen3_5,      ///< qwen2 with marks as parts of words
  o200k,        ///< gpt-oss, MiniMax: words end where upper case follows lower case
  tekken,       ///< o200k with digits one by one and no contractions
  kimi,         ///< o200k with runs of Han characters on their own
  deepseek_v3,  ///< three patterns, each splitting what the one before left
};

/// The pattern with that name; "cl100k" names SplitPattern::cl100k, and so on.
[[nodiscard]] std::optional<SplitPattern> split_pattern_of(std::string_view name) noexcept;

/// Replaces `ends` by the end offset of every pre-token. Pre-tokens tile the text, which must be valid UTF-8
/// of less than 4 GiB; its end counts as the end of the text for a pattern's look-ahead. Linear in the text.
void split(SplitPattern pattern, std::string_view text, std::vector<std::uint32_t>& ends);

}  // namespace turnloom
