#include "ids/block_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if TURNLOOM_X86_LEVELS
#include <immintrin.h>
#endif

namespace turnloom {
namespace {

template <std::size_t n_clusters, typename Bits>
TURNLOOM_INLINE bool is_in_cluster(Bits id, const IdFilter<Bits>& filter) noexcept {
  bool found = false;
  for (std::size_t c = 0; c < n_clusters; ++c) {
    found |= static_cast<Bits>(id - filter.firsts[c]) <= filter.widths[c];
  }
  return found;
}

template <std::size_t n_clusters, typename Bits>
TURNLOOM_INLINE bool has_candidates(const Bits* ids, const IdFilter<Bits>& filter) noexcept {
  // A number, not a bool, is what compilers turn into vector code; one, since the end of the loop costs as
  // much as the loop.
  Bits found = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const Bits invalid = ids[i] & filter.invalid_bits;
    const Bits hit = is_in_cluster<n_clusters>(ids[i], filter) ? 1 : 0;
    found = static_cast<Bits>(found | invalid | hit);
  }
  return found != 0;
}

template <std::size_t n_clusters, typename Bits>
TURNLOOM_INLINE std::uint64_t candidates(const Bits* ids, const IdFilter<Bits>& filter) noexcept {
  std::array<std::uint8_t, kBlock> marks;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const bool invalid = (ids[i] & filter.invalid_bits) != 0;
    marks[i] = is_in_cluster<n_clusters>(ids[i], filter) || invalid ? 1 : 0;
  }
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kBlock; i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, &marks[i], 8);
    // The product's top byte collects the lowest bit of each byte, the lowest byte's first; where the first
    // mark is in the highest byte, so is the order of the factor.
    constexpr std::uint64_t kCollect =
        std::endian::native == std::endian::little ? 0x0102040810204080U : 0x8040201008040201U;
    bits |= (eight * kCollect >> 56) << i;
  }
  return bits;
}

template <std::size_t n_clusters, typename Bits>
TURNLOOM_INLINE Block search(const Bits* ids, std::size_t n_blocks, const IdFilter<Bits>& filter,
                             bool backwards) noexcept {
  for (std::size_t n_seen = 0; n_seen < n_blocks; ++n_seen) {
    const std::size_t block = backwards ? n_blocks - 1 - n_seen : n_seen;
    const Bits* begin = ids + block * kBlock;
    if (has_candidates<n_clusters>(begin, filter)) return {block, candidates<n_clusters>(begin, filter)};
  }
  return {n_blocks, 0};
}

#if TURNLOOM_X86_LEVELS

template <std::size_t n_clusters, typename Bits>
TURNLOOM_AVX2 Block search_avx2(const Bits* ids, std::size_t n_blocks, const IdFilter<Bits>& filter,
                                bool backwards) noexcept {
  return search<n_clusters>(ids, n_blocks, filter, backwards);
}

// With AVX-512 a comparison gives a bit for each id, so that all candidates cost no more than whether there
// are any.

TURNLOOM_AVX512 inline std::uint64_t in_range(__m512i ids, std::uint8_t first, std::uint8_t width) noexcept {
  const __m512i distances = _mm512_sub_epi8(ids, _mm512_set1_epi8(static_cast<char>(first)));
  return _mm512_cmple_epu8_mask(distances, _mm512_set1_epi8(static_cast<char>(width)));
}
TURNLOOM_AVX512 inline std::uint64_t in_range(__m512i ids, std::uint16_t first,
                                              std::uint16_t width) noexcept {
  const __m512i distances = _mm512_sub_epi16(ids, _mm512_set1_epi16(static_cast<short>(first)));
  return _mm512_cmple_epu16_mask(distances, _mm512_set1_epi16(static_cast<short>(width)));
}
TURNLOOM_AVX512 inline std::uint64_t in_range(__m512i ids, std::uint32_t first,
                                              std::uint32_t width) noexcept {
  const __m512i distances = _mm512_sub_epi32(ids, _mm512_set1_epi32(static_cast<int>(first)));
  return _mm512_cmple_epu32_mask(distances, _mm512_set1_epi32(static_cast<int>(width)));
}
TURNLOOM_AVX512 inline std::uint64_t in_range(__m512i ids, std::uint64_t first,
                                              std::uint64_t width) noexcept {
  const __m512i distances = _mm512_sub_epi64(ids, _mm512_set1_epi64(static_cast<long long>(first)));
  return _mm512_cmple_epu64_mask(distances, _mm512_set1_epi64(static_cast<long long>(width)));
}

template <std::size_t n_clusters, typename Bits>
TURNLOOM_AVX512 Block search_avx512(const Bits* ids, std::size_t n_blocks, const IdFilter<Bits>& filter,
                                    bool backwards) noexcept {
  constexpr std::size_t kSize = sizeof(__m512i) / sizeof(Bits);
  constexpr std::uint64_t kEach = ~std::uint64_t{0} / std::numeric_limits<Bits>::max();
  const std::uint64_t invalid_in_word = kEach * filter.invalid_bits;
  const __m512i invalid_bits = _mm512_set1_epi64(static_cast<long long>(invalid_in_word));
  for (std::size_t n_seen = 0; n_seen < n_blocks; ++n_seen) {
    const std::size_t block = backwards ? n_blocks - 1 - n_seen : n_seen;
    __m512i seen = _mm512_setzero_si512();
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < kBlock; i += kSize) {
      const __m512i vector = _mm512_loadu_si512(ids + block * kBlock + i);
      seen = _mm512_or_si512(seen, vector);
      for (std::size_t c = 0; c < n_clusters; ++c) {
        found |= in_range(vector, filter.firsts[c], filter.widths[c]) << i;
      }
    }
    if (_mm512_test_epi64_mask(seen, invalid_bits) != 0) return {block, ~std::uint64_t{0}};
    if (found != 0) return {block, found};
  }
  return {n_blocks, 0};
}

#endif

/// Calls `search(n)` with the number of clusters as a constant.
template <typename Search>
TURNLOOM_INLINE Block with_constant(std::size_t n_clusters, Search search) noexcept {
  switch (n_clusters) {
    case 0:
      return search(std::integral_constant<std::size_t, 0>());
    case 1:
      return search(std::integral_constant<std::size_t, 1>());
    case 2:
      return search(std::integral_constant<std::size_t, 2>());
    case 3:
      return search(std::integral_constant<std::size_t, 3>());
    default:
      return search(std::integral_constant<std::size_t, 4>());
  }
}

template <typename Bits>
Block search_at(const Bits* ids, std::size_t n_blocks, const IdFilter<Bits>& filter,
                [[maybe_unused]] VectorLevel level, bool backwards) noexcept {
#if TURNLOOM_X86_LEVELS
  if (level == VectorLevel::avx512) {
    return with_constant(filter.n_clusters,
                         [&](auto n) { return search_avx512<n()>(ids, n_blocks, filter, backwards); });
  }
  if (level == VectorLevel::avx2) {
    return with_constant(filter.n_clusters,
                         [&](auto n) { return search_avx2<n()>(ids, n_blocks, filter, backwards); });
  }
#endif
  return with_constant(filter.n_clusters,
                       [&](auto n) { return search<n()>(ids, n_blocks, filter, backwards); });
}

}  // namespace

template <typename Bits>
IdFilter<Bits>::IdFilter(const TokenSet& tokens, bool is_signed) noexcept {
  constexpr auto kAllBits = std::numeric_limits<Bits>::max();
  constexpr std::uint64_t kMaxToken = std::numeric_limits<TokenId>::max();
  const std::uint64_t max_positive = is_signed ? kAllBits >> 1 : kAllBits;
  const std::uint64_t max_id = std::min(max_positive, kMaxToken);
  invalid_bits = static_cast<Bits>(kAllBits & ~max_id);
  for (const TokenSet::Cluster& cluster : tokens.clusters()) {
    if (static_cast<std::uint64_t>(cluster.first) > max_id) break;
    const std::uint64_t last = std::min(static_cast<std::uint64_t>(cluster.last), max_id);
    firsts[n_clusters] = static_cast<Bits>(cluster.first);
    widths[n_clusters] = static_cast<Bits>(last - static_cast<std::uint64_t>(cluster.first));
    ++n_clusters;
  }
}

template <typename Bits>
Block find_block(const Bits* ids, std::size_t n_blocks, const IdFilter<Bits>& filter,
                 VectorLevel level) noexcept {
  return search_at(ids, n_blocks, filter, level, false);
}

template <typename Bits>
Block find_last_block(const Bits* ids, std::size_t n_blocks, const IdFilter<Bits>& filter,
                      VectorLevel level) noexcept {
  return search_at(ids, n_blocks, filter, level, true);
}

#define TURNLOOM_INSTANTIATE(Bits)                                                                  \
  template struct IdFilter<Bits>;                                                                   \
  template Block find_block(const Bits*, std::size_t, const IdFilter<Bits>&, VectorLevel) noexcept; \
  template Block find_last_block(const Bits*, std::size_t, const IdFilter<Bits>&, VectorLevel) noexcept;
TURNLOOM_INSTANTIATE(std::uint8_t)
TURNLOOM_INSTANTIATE(std::uint16_t)
TURNLOOM_INSTANTIATE(std::uint32_t)
TURNLOOM_INSTANTIATE(std::uint64_t)
#undef TURNLOOM_INSTANTIATE

}  // namespace turnloom
