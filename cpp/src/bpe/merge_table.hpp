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
///
/// A perfect hash: pairs fall into groups, and each group has a number that sends its pairs to places that no
/// other pair has. A look-up has no branch, and the table few empty places: what merging waits for is memory.
class MergeTable {
 public:
  static constexpr int kRankBits = 22;
  static constexpr std::uint32_t kNoMerge = (std::uint32_t{1} << kRankBits) - 1;  ///< above every rank
  /// Merges with no token; no vocabulary has it.
  static constexpr TokenId kNoNeighbour = (TokenId{1} << 21) - 1;

  /// Of merges with the same pair the last counts. All merges of a rank have the same result. Throws Error
  /// (value) for a rank of kNoMerge or more.
  explicit MergeTable(std::span<const Merge> merges);

  /// Where the pair is, if it is anywhere.
  [[nodiscard]] std::size_t place_of(TokenId left, TokenId right) const noexcept {
    const std::uint64_t hash = pack(left, right) * 0x9E3779B97F4A7C15U;
    return place_of(hash, group_numbers_[group_of(hash)]);
  }
  void prefetch(std::size_t place) const noexcept { turnloom::prefetch(&slots_[place]); }
  /// Rank of the pair, or kNoMerge; `place` is its `place_of`.
  [[nodiscard]] std::uint32_t find(TokenId left, TokenId right, std::size_t place) const noexcept {
    const std::uint64_t slot = slots_[place];
    const std::uint32_t rank =
        slot >> kRankBits == pack(left, right) ? static_cast<std::uint32_t>(slot) & kNoMerge : kNoMerge;
    turnloom::prefetch(results_.data() + rank);
    return rank;
  }
  [[nodiscard]] std::uint32_t find(TokenId left, TokenId right) const noexcept {
    return find(left, right, place_of(left, right));
  }
  /// The token that the merge of a rank makes.
  [[nodiscard]] TokenId result(std::uint32_t rank) const noexcept { return results_[rank]; }

 private:
  static constexpr int kIdBits = 21;
  // The pair (kNoNeighbour, kNoNeighbour), which nobody looks up.
  static constexpr std::uint64_t kEmpty = UINT64_MAX;

  static std::uint64_t pack(TokenId left, TokenId right) noexcept {
    return static_cast<std::uint64_t>(left) << kIdBits | static_cast<std::uint64_t>(right);
  }
  // Both take the upper half of a product to a range.
  [[nodiscard]] std::size_t group_of(std::uint64_t hash) const noexcept {
    return (hash >> 32) * group_numbers_.size() >> 32;
  }
  [[nodiscard]] std::size_t place_of(std::uint64_t hash, std::uint16_t number) const noexcept {
    return ((hash ^ number) * 0xD6E8FEB86659FD93U >> 32) * slots_.size() >> 32;
  }
  [[nodiscard]] bool place_groups(const std::vector<std::vector<std::uint64_t>>& groups);

  std::vector<std::uint16_t> group_numbers_;
  LargeArray<std::uint64_t> slots_;  ///< pair and rank
  std::vector<TokenId> results_;     ///< by rank
};

}  // namespace turnloom
