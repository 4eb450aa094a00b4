// GPT-2's byte alphabet: how a byte-level vocabulary spells bytes as printable characters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace turnloom {

/// The bytes that a spelling stands for; nothing if a character of it is not in the alphabet. The spelling is
/// valid UTF-8.
[[nodiscard]] std::optional<std::string> alphabet_to_bytes(std::string_view spelling);
/// How the alphabet spells the bytes.
[[nodiscard]] std::string bytes_to_alphabet(std::string_view bytes);

}  // namespace turnloom
