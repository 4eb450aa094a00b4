#include "bpe/utf8_prefix.hpp"

#include <cstdint>
#include <cstring>

namespace turnloom {
namespace {

struct Sequence {
  std::size_t n_bytes;  ///< of the character that the lead byte begins; 0 if it begins none
  unsigned char second_min;
  unsigned char second_max;
};

// Table 3-7 of the Unicode standard.
constexpr Sequence sequence_of(unsigned char lead) noexcept {
  if (lead < 0x80) return {1, 0, 0};
  if (lead < 0xC2) return {0, 0, 0};
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead < 0xF0) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead < 0xF4) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

bool is_ascii_8(const char* bytes) noexcept {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return (word & 0x8080808080808080U) == 0;
}

}  // namespace

Utf8Prefix utf8_prefix(std::string_view bytes) noexcept {
  std::size_t begin = 0;
  while (begin < bytes.size()) {
    if (bytes.size() - begin >= 8 && is_ascii_8(bytes.data() + begin)) {
      begin += 8;
      continue;
    }
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[begin + i]); };
    const Sequence sequence = sequence_of(byte(0));
    if (sequence.n_bytes == 0) return {begin, 1, false};
    const std::size_t n_there = bytes.size() - begin;
    for (std::size_t i = 1; i < sequence.n_bytes; ++i) {
      if (i == n_there) return {begin, i, true};
      const unsigned char min = i == 1 ? sequence.second_min : 0x80;
      const unsigned char max = i == 1 ? sequence.second_max : 0xBF;
      if (byte(i) < min || byte(i) > max) return {begin, i, false};
    }
    begin += sequence.n_bytes;
  }
  return {begin, 0, false};
}

}  // namespace turnloom
