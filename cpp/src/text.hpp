// The string methods of Python that chat templates call, over UTF-8.
#pragma once

#include <string_view>

namespace turnloom {

/// `text.strip()`, `text.lstrip()`, `text.rstrip()`: white space is what Python takes for it.
[[nodiscard]] std::string_view strip(std::string_view text) noexcept;
[[nodiscard]] std::string_view lstrip(std::string_view text) noexcept;
[[nodiscard]] std::string_view rstrip(std::string_view text) noexcept;

/// `text.strip("\n")`, `text.lstrip("\n")`, `text.rstrip("\n")`.
[[nodiscard]] std::string_view strip_newlines(std::string_view text) noexcept;
[[nodiscard]] std::string_view lstrip_newlines(std::string_view text) noexcept;
[[nodiscard]] std::string_view rstrip_newlines(std::string_view text) noexcept;

/// The white space that Unicode calls White_Space, as Rust's `char::is_whitespace` does: what the flags
/// `lstrip` and `rstrip` of an added token take. It lacks U+001C to U+001F, which Python counts.
[[nodiscard]] std::size_t unicode_space_prefix(std::string_view text) noexcept;
[[nodiscard]] std::size_t unicode_space_suffix(std::string_view text) noexcept;

}  // namespace turnloom
