// What the flag `single_word` of an added token takes for a part of a word: `\w` of Rust's regex package.
#pragma once

#include <string_view>

namespace turnloom {

[[nodiscard]] bool starts_with_word_character(std::string_view text) noexcept;
[[nodiscard]] bool ends_with_word_character(std::string_view text) noexcept;

}  // namespace turnloom
