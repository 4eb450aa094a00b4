#include "ids/block_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

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
  // As numbers, not as bools: this is what compilers turn into vector code.
  Bits found = 0;
  Bits seen = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    seen = static_cast<Bits>(seen | ids[i]);
    found = static_cast<Bits>(found | (is_in_cluster<n_clusters>(ids[i], filter) ? 1 : 0));
  }
  return found != 0 || (seen & filter.invalid_bits) != 0;
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

template <typename Bits>
TURNLOOM_INLINE Block search(const Bits* ids, std::size_t n_blocks, const IdFilter<Bits>& filter,
                             bool backwards) noexcept {
  switch (filter.n_clusters) {
    case 0:
      return search<0>(ids, n_blocks, filter, backwards);
    case 1:
      return search<1>(ids, n_blocks, filter, backwards);
    case 2:
      return search<2>(ids, n_blocks, filter, backwards);
    case 3:
      return search<3>(ids, n_blocks, filter, backwards);
    default:
      return search<4>(ids, n_blocks, filter, backwards);
  }
}

#if TURNLOOM_X86_LEVELS
template <typename Bits>
TURNLOOM_AVX2 Block search_avx2(const Bits* ids, std::size_t n_blocks, const IdFilter<Bits>& filter,
                                bool backwards) noexcept {
  return search(ids, n_blocks, filter, backwards);
}
template <typename Bits>
TURNLOOM_AVX512 Block search_avx512(const Bits* ids, std::size_t n_blocks, const IdFilter<Bits>& filter,
                                    bool backwards) noexcept {
  return search(ids, n_blocks, filter, backwards);
}
#endif

template <typename Bits>
Block search_at(const Bits* ids, std::size_t n_blocks, const IdFilter<Bits>& filter,
                [[maybe_unused]] VectorLevel level, bool backwards) noexcept {
#if TURNLOOM_X86_LEVELS
  if (level == VectorLevel::avx512) return search_avx512(ids, n_blocks, filter, backwards);
  if (level == VectorLevel::avx2) return search_avx2(ids, n_blocks, filter, backwards);
#endif
  return search(ids, n_blocks, filter, backwards);
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
