// The loop that skips the blocks of an array of ids in which there is nothing to find.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ids/vector_level.hpp"
#include "turnloom/scan.hpp"

namespace turnloom {

/// Ids per block: a bit each in a word.
inline constexpr std::size_t kBlock = 64;

/// What makes an id a candidate: it is in a cluster, or no token has it. `Bits` is unsigned.
template <typename Bits>
struct IdFilter {
  std::array<Bits, TokenSet::kMaxClusters> firsts{};
  std::array<Bits, TokenSet::kMaxClusters> widths{};  ///< last - first
  std::size_t n_clusters = 0;
  Bits invalid_bits = 0;  ///< one of these is set in every id below 0 or past TokenId

  /// `is_signed` is whether the array's own type is.
  IdFilter(const TokenSet& tokens, bool is_signed) noexcept;
};

/// A block with candidates; its bit i stands for id i of the block.
struct Block {
  std::size_t index;
  std::uint64_t candidates;  ///< 0 when there is no such block
};

/// The first of `n_blocks` blocks that has candidates.
template <typename Bits>
[[nodiscard]] Block find_block(const Bits* ids, std::size_t n_blocks, const IdFilter<Bits>& filter,
                               VectorLevel level) noexcept;

/// The last one.
template <typename Bits>
[[nodiscard]] Block find_last_block(const Bits* ids, std::size_t n_blocks, const IdFilter<Bits>& filter,
                                    VectorLevel level) noexcept;

}  // namespace turnloom
