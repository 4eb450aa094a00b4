// Which pairs of tokens merge, and in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpe/large_array.hpp"
#include "turnloom/types.hpp"

namespace turnloom {

/// Two tokens that merge. The pair of the lowest rank merges first.
struct Merge {
  TokenId left;
  TokenId right;
  std::uint32_t rank;
  TokenId result;
};

/// Ranks of pairs. Immutable.
class MergeTable {
 public:
  static constexpr int kRankBits = 22;
  static constexpr std::uint32_t kNoMerge = (std::uint32_t{1} << kRankBits) - 1;  ///< above every rank

  /// Of merges with the same pair the last counts. All merges of a rank have the same result. Throws Error (value)
  /// for a rank of kNoMerge or more.
  explicit MergeTable(std::span<const Merge> merges);

  /// Where the pair is, if it is anywhere.
  [[nodiscard]] std::size_t slot_of(TokenId left, TokenId right) const noexcept {
    return pack(left, right) * 0x9E3779B97F4A7C15U >> shift_;
  }
  void prefetch(std::size_t slot) const noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(&slots_[slot]);
#endif
  }
  /// Rank of the pair, or kNoMerge; `slot` is its `slot_of`.
  [[nodiscard]] std::uint32_t find(TokenId left, TokenId right, std::size_t slot) const noexcept {
    const std::uint64_t pair = pack(left, right);
    for (;; slot = (slot + 1) & (slots_.size() - 1)) {
      const std::uint64_t found = ~slots_[slot];
      if (found >> kRankBits == pair) return static_cast<std::uint32_t>(found) & kNoMerge;
      if (found == kEmpty) return kNoMerge;
    }
  }
  [[nodiscard]] std::uint32_t find(TokenId left, TokenId right) const noexcept {
    return find(left, right, slot_of(left, right));
  }
  /// The same, if its result is asked for, not at once.
  [[nodiscard]] std::uint32_t find_for_later(TokenId left, TokenId right, std::size_t slot) const noexcept {
    const std::uint32_t rank = find(left, right, slot);
#if defined(__GNUC__)
    if (rank != kNoMerge) __builtin_prefetch(&results_[rank]);
#endif
    return rank;
  }
  /// The token that the merge of a rank makes.
  [[nodiscard]] TokenId result(std::uint32_t rank) const noexcept { return results_[rank]; }

 private:
  static constexpr int kIdBits = 21;
  static constexpr std::uint64_t kEmpty = UINT64_MAX;  // two ids that no vocabulary has

  static std::uint64_t pack(TokenId left, TokenId right) noexcept {
    return static_cast<std::uint64_t>(left) << kIdBits | static_cast<std::uint64_t>(right);
  }

  LargeArray<std::uint64_t> slots_;  ///< pair and rank, all bits flipped so that zero is empty; a power of two
  std::vector<TokenId> results_;      ///< by rank
  int shift_ = 0;                     ///< a hash shifted right by it is the index of a slot
};

}  // namespace turnloom
