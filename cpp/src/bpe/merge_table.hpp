// Which pairs of tokens merge, and in which order.
#pragma once

#include <algorithm>
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
  /// Merges with no token; no vocabulary has it.
  static constexpr TokenId kNoNeighbour = (TokenId{1} << 21) - 1;

  /// Of merges with the same pair the last counts. All merges of a rank have the same result. Throws Error
  /// (value) for a rank of kNoMerge or more.
  explicit MergeTable(std::span<const Merge> merges);

  /// Where the pair is, if it is anywhere.
  [[nodiscard]] std::size_t bucket_of(TokenId left, TokenId right) const noexcept {
    return (pack(left, right) * 0x9E3779B97F4A7C15U >> 32) * n_buckets_ >> 32;
  }
  void prefetch(std::size_t bucket) const noexcept { turnloom::prefetch(&buckets_[bucket]); }
  /// Rank of the pair, or kNoMerge; `bucket` is its `bucket_of`. Almost free of branches, since neither the
  /// presence of a pair nor its place can be foretold.
  [[nodiscard]] std::uint32_t find(TokenId left, TokenId right, std::size_t bucket) const noexcept {
    const std::uint64_t pair = ~(pack(left, right) << kRankBits);
    for (;; bucket = next(bucket)) {
      const Bucket& here = buckets_[bucket];
      // With the pair's own slot it gives the rank, with any other more than a rank.
      const std::uint64_t rank = std::min(std::min(here.slots[0] ^ pair, here.slots[1] ^ pair),
                                          std::min(here.slots[2] ^ pair, here.slots[3] ^ pair));
      if (rank > kNoMerge && here.slots[3] != kEmpty) continue;
      turnloom::prefetch(results_.data() + rank % (kNoMerge + 1));
      return static_cast<std::uint32_t>(std::min<std::uint64_t>(rank, kNoMerge));
    }
  }
  [[nodiscard]] std::uint32_t find(TokenId left, TokenId right) const noexcept {
    return find(left, right, bucket_of(left, right));
  }
  /// The token that the merge of a rank makes.
  [[nodiscard]] TokenId result(std::uint32_t rank) const noexcept { return results_[rank]; }

 private:
  // Pairs that do not fit into a full bucket are in the next.
  struct Bucket {
    std::uint64_t slots[4];  ///< pair and rank with all bits flipped, filled in order
  };

  static constexpr int kIdBits = 21;
  static constexpr std::uint64_t kEmpty = 0;

  static std::uint64_t pack(TokenId left, TokenId right) noexcept {
    return static_cast<std::uint64_t>(left) << kIdBits | static_cast<std::uint64_t>(right);
  }
  [[nodiscard]] std::size_t next(std::size_t bucket) const noexcept {
    return bucket + 1 == n_buckets_ ? 0 : bucket + 1;
  }

  std::size_t n_buckets_;
  LargeArray<Bucket> buckets_;
  std::vector<TokenId> results_;  ///< by rank; kNoMerge has none
};

}  // namespace turnloom
