// Which pairs of tokens merge, and in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "turnloom/types.hpp"

namespace turnloom {

/// Two tokens that merge. The pair of the lowest rank merges first.
struct Merge {
  TokenId left;
  TokenId right;
  std::uint32_t rank;
  TokenId result;
};

constexpr std::uint32_t kNoMerge = UINT32_MAX;

/// Ranks of pairs. Immutable.
class MergeTable {
 public:
  static constexpr std::uint32_t kMaxRanks = std::uint32_t{1} << 22;

  /// Of merges with the same pair the last counts. All merges of a rank have the same result. Throws Error (value)
  /// for a rank that is not below kMaxRanks.
  explicit MergeTable(std::span<const Merge> merges);

  /// Rank of the pair, or kNoMerge.
  [[nodiscard]] std::uint32_t find(TokenId left, TokenId right) const noexcept {
    const std::uint64_t pair = pack(left, right);
    for (std::size_t slot = hash(pair) >> shift_;; slot = (slot + 1) & (slots_.size() - 1)) {
      const std::uint64_t found = slots_[slot];
      if (found >> kRankBits == pair) return static_cast<std::uint32_t>(found & (kMaxRanks - 1));
      if (found == kEmpty) return kNoMerge;
    }
  }
  /// The token that the merge of a rank makes.
  [[nodiscard]] TokenId result(std::uint32_t rank) const noexcept { return results_[rank]; }

 private:
  static constexpr int kRankBits = 22;
  static constexpr int kIdBits = 21;
  static constexpr std::uint64_t kEmpty = UINT64_MAX;

  static std::uint64_t pack(TokenId left, TokenId right) noexcept {
    return static_cast<std::uint64_t>(left) << kIdBits | static_cast<std::uint64_t>(right);
  }
  static std::uint64_t hash(std::uint64_t pair) noexcept { return pair * 0x9E3779B97F4A7C15U; }

  std::vector<std::uint64_t> slots_;  ///< pair and rank; open addressing, a power of two
  std::vector<TokenId> results_;      ///< by rank
  int shift_ = 0;                     ///< a hash shifted right by it is the index of a slot
};

}  // namespace turnloom
