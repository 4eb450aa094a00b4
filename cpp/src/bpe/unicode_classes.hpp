// What the split patterns of tokenizers take a character for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace turnloom {

/// Properties of a character, as bits. A class is the sum of those it has; it is 0 for control, format,
/// private and unassigned characters that are no white space.
namespace character_class {
inline constexpr std::uint8_t kUpper = 1;     ///< \p{Lu} and \p{Lt}
inline constexpr std::uint8_t kLower = 2;     ///< \p{Ll}
inline constexpr std::uint8_t kCaseless = 4;  ///< \p{Lm} and \p{Lo}
inline constexpr std::uint8_t kMark = 8;      ///< \p{M}
inline constexpr std::uint8_t kNumber = 16;   ///< \p{N}
inline constexpr std::uint8_t kSpace = 32;    ///< \s
inline constexpr std::uint8_t kSymbol = 64;   ///< \p{P} and \p{S}
inline constexpr std::uint8_t kHan = 128;     ///< \p{Han}, beside another property
inline constexpr std::uint8_t kLetter = kUpper | kLower | kCaseless;
}  // namespace character_class

/// A block of the table holds the classes of 64 code points, those that share all but their last byte in
/// UTF-8.
extern const std::uint16_t kClassBlockNumbers[0x110000 / 64];
extern const std::uint8_t kClassBlocks[][64];

/// A character of a text: its class and the number of bytes that spell it.
struct ClassifiedCharacter {
  std::uint8_t properties;
  std::uint8_t n_bytes;

  [[nodiscard]] bool is(unsigned any_of) const noexcept { return (properties & any_of) != 0; }
};

/// The character at `byte_offset`, which is the start of one. The text must be valid UTF-8.
[[nodiscard]] inline ClassifiedCharacter classify(std::string_view text, std::size_t byte_offset) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[byte_offset + i]); };
  const auto tail = [&](std::size_t i) { return byte(i) & 0x3FU; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {kClassBlocks[lead >> 6][lead & 0x3F], 1};
  if (lead < 0xE0) return {kClassBlocks[kClassBlockNumbers[lead & 0x1F]][tail(1)], 2};
  if (lead < 0xF0) return {kClassBlocks[kClassBlockNumbers[(lead & 0x0F) << 6 | tail(1)]][tail(2)], 3};
  return {kClassBlocks[kClassBlockNumbers[(lead & 0x07) << 12 | tail(1) << 6 | tail(2)]][tail(3)], 4};
}

}  // namespace turnloom
