// 64 bytes of text as bit masks, bit k for byte k.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#define TURNLOOM_SSE2
#include <emmintrin.h>
#endif

namespace turnloom {

inline constexpr std::size_t kBlockBytes = 64;

/// Which bytes of a block are what. Bytes that are no ASCII are in `non_ascii` only.
struct ByteMasks {
  std::uint64_t non_ascii = 0;
  std::uint64_t letter = 0;
  std::uint64_t upper = 0;
  std::uint64_t digit = 0;
  std::uint64_t space = 0;    ///< \s
  std::uint64_t newline = 0;  ///< \r and \n
  std::uint64_t blank = 0;    ///< the space character
  std::uint64_t apostrophe = 0;
  std::uint64_t slash = 0;
  std::uint64_t control = 0;  ///< below U+0020 or U+007F, but no white space
};

/// The same with integers, eight bytes at a time: for machines without SSE2, and to test against.
[[nodiscard]] inline ByteMasks portable_byte_masks(const char* bytes) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  ByteMasks masks;
  for (unsigned shift = 0; shift < kBlockBytes; shift += 8) {
    std::uint64_t all = 0;
    for (unsigned k = 0; k < 8; ++k) {
      all |= std::uint64_t{static_cast<unsigned char>(bytes[shift + k])} << (8 * k);
    }
    const std::uint64_t ascii = ~all & kHigh;
    const std::uint64_t low = all & ~kHigh;
    // Sets the high bit of the ASCII bytes in [first, last]; no byte overflows into the next.
    const auto between = [&](std::uint64_t v, std::uint64_t first, std::uint64_t last) {
      return (v + (0x80 - first) * kOnes) & ~(v + (0x7F - last) * kOnes) & ascii;
    };
    // The high bits of eight bytes, side by side, in their order.
    const auto collect = [&](std::uint64_t high) {
      return ((high >> 7) * 0x0102040810204080U >> 56) << shift;
    };
    const std::uint64_t space = between(low, '\t', '\r') | between(low, ' ', ' ');
    masks.non_ascii |= collect(all & kHigh);
    masks.letter |= collect(between(low | 0x20 * kOnes, 'a', 'z'));
    masks.upper |= collect(between(low, 'A', 'Z'));
    masks.digit |= collect(between(low, '0', '9'));
    masks.space |= collect(space);
    masks.newline |= collect(between(low, '\n', '\n') | between(low, '\r', '\r'));
    masks.blank |= collect(between(low, ' ', ' '));
    masks.apostrophe |= collect(between(low, '\'', '\''));
    masks.slash |= collect(between(low, '/', '/'));
    masks.control |= collect((between(low, 0, 0x1F) | between(low, 0x7F, 0x7F)) & ~space);
  }
  return masks;
}

#ifdef TURNLOOM_SSE2

/// Sixteen bytes; comparisons give all bits of a byte or none.
class Bytes16 {
 public:
  explicit Bytes16(const char* bytes) noexcept
      : v_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes))) {}

  [[nodiscard]] Bytes16 operator|(Bytes16 other) const noexcept {
    return Bytes16(_mm_or_si128(v_, other.v_));
  }
  [[nodiscard]] Bytes16 without(Bytes16 other) const noexcept {
    return Bytes16(_mm_andnot_si128(other.v_, v_));
  }
  [[nodiscard]] Bytes16 lower_case() const noexcept { return Bytes16(_mm_or_si128(v_, _mm_set1_epi8(0x20))); }
  [[nodiscard]] Bytes16 equal(char byte) const noexcept {
    return Bytes16(_mm_cmpeq_epi8(v_, _mm_set1_epi8(byte)));
  }
  [[nodiscard]] Bytes16 between(char first, char last) const noexcept {
    // Comparisons are signed, so the range is moved to the lowest numbers there are.
    const __m128i moved = _mm_add_epi8(v_, _mm_set1_epi8(static_cast<char>(-128 - first)));
    return Bytes16(_mm_cmplt_epi8(moved, _mm_set1_epi8(static_cast<char>(-127 + last - first))));
  }
  [[nodiscard]] std::uint64_t high_bits() const noexcept {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(v_)));
  }

 private:
  explicit Bytes16(__m128i v) noexcept : v_(v) {}

  __m128i v_;
};

[[nodiscard]] inline ByteMasks byte_masks(const char* bytes) noexcept {
  ByteMasks masks;
  for (unsigned shift = 0; shift < kBlockBytes; shift += 16) {
    const Bytes16 v(bytes + shift);
    const Bytes16 blank = v.equal(' ');
    const Bytes16 space = v.between('\t', '\r') | blank;
    masks.non_ascii |= v.high_bits() << shift;
    masks.letter |= v.lower_case().between('a', 'z').high_bits() << shift;
    masks.upper |= v.between('A', 'Z').high_bits() << shift;
    masks.digit |= v.between('0', '9').high_bits() << shift;
    masks.space |= space.high_bits() << shift;
    masks.newline |= (v.equal('\n') | v.equal('\r')).high_bits() << shift;
    masks.blank |= blank.high_bits() << shift;
    masks.apostrophe |= v.equal('\'').high_bits() << shift;
    masks.slash |= v.equal('/').high_bits() << shift;
    masks.control |= (v.between(0, 0x1F) | v.equal(0x7F)).without(space).high_bits() << shift;
  }
  return masks;
}

#else

[[nodiscard]] inline ByteMasks byte_masks(const char* bytes) noexcept { return portable_byte_masks(bytes); }

#endif

}  // namespace turnloom
