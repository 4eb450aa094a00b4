#pragma once

#include <cstddef>
#include <string_view>

namespace turnloom {

/// One code point and the number of bytes that spell it.
struct CodePoint {
  char32_t value;
  std::size_t n_bytes;
};

/// The code point at `byte_offset`, which is the start of one. The text must be valid UTF-8.
[[nodiscard]] inline CodePoint decode_code_point(std::string_view text, std::size_t byte_offset) noexcept {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[byte_offset + i]));
  };
  const auto tail = [&](std::size_t i) { return byte(i) & 0x3F; };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | tail(1), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | tail(1) << 6 | tail(2), 3};
  return {(lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4};
}

/// Where the code point that ends at `byte_offset`, which is not 0, begins. The text must be valid UTF-8.
[[nodiscard]] inline std::size_t previous_code_point(std::string_view text,
                                                     std::size_t byte_offset) noexcept {
  do {
    --byte_offset;
  } while ((static_cast<unsigned char>(text[byte_offset]) & 0xC0U) == 0x80U);
  return byte_offset;
}

}  // namespace turnloom
