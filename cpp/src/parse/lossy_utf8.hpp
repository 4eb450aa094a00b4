// UTF-8 that comes in parts, and may be none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace turnloom {

/// Appends the characters of `bytes` to `out`; what is none becomes U+FFFD, as `String::from_utf8_lossy` of
/// Rust and `errors="replace"` of Python have it. Returns where an incomplete character begins at the end,
/// which is not appended: the size if there is none.
std::size_t append_lossy(std::string_view bytes, std::string& out);

/// Whether it is whole characters.
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace turnloom
