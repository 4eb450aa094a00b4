#include "bpe/byte_alphabet.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "utf8.hpp"

namespace turnloom {
namespace {

constexpr std::size_t kFirstStandIn = 0x100;
constexpr std::size_t kEnd = 0x144;
constexpr std::int16_t kNoByte = -1;

constexpr bool spells_itself(std::size_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

// The bytes that are no printable character are spelled, in order, by the characters from U+0100 on.
struct Alphabet {
  std::array<char16_t, 256> character_of{};
  std::array<std::int16_t, kEnd> byte_of{};

  constexpr Alphabet() {
    byte_of.fill(kNoByte);
    std::size_t stand_in = kFirstStandIn;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::size_t character = spells_itself(byte) ? byte : stand_in++;
      character_of[byte] = static_cast<char16_t>(character);
      byte_of[character] = static_cast<std::int16_t>(byte);
    }
  }
};

constexpr Alphabet kAlphabet;

}  // namespace

std::optional<std::string> alphabet_to_bytes(std::string_view spelling) {
  std::string bytes;
  bytes.reserve(spelling.size());
  for (std::size_t i = 0; i < spelling.size();) {
    const CodePoint next = decode_code_point(spelling, i);
    if (next.value >= kEnd || kAlphabet.byte_of[next.value] == kNoByte) return std::nullopt;
    bytes += static_cast<char>(kAlphabet.byte_of[next.value]);
    i += next.n_bytes;
  }
  return bytes;
}

std::string bytes_to_alphabet(std::string_view bytes) {
  std::string spelling;
  spelling.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const char16_t character = kAlphabet.character_of[static_cast<unsigned char>(byte)];
    if (character < 0x80) {
      spelling += static_cast<char>(character);
    } else {
      spelling += static_cast<char>(0xC0 | character >> 6);
      spelling += static_cast<char>(0x80 | (character & 0x3F));
    }
  }
  return spelling;
}

}  // namespace turnloom
