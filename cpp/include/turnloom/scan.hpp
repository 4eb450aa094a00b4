// Searches for a few token ids in arrays of many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "turnloom/types.hpp"

namespace turnloom {

/// Token ids to look for, made ready once and used for any number of searches. Immutable.
class TokenSet {
 public:
  /// Ids that are close together, ends included. Everything looked for is in one of a set's clusters.
  struct Cluster {
    TokenId first;
    TokenId last;
  };
  static constexpr std::size_t kMaxClusters = 4;

  /// In any order, repeated or not, none negative.
  explicit TokenSet(std::vector<TokenId> tokens);

  [[nodiscard]] bool contains(TokenId token) const noexcept {
    if (bits_.empty()) return std::binary_search(tokens_.begin(), tokens_.end(), token);
    // Wraps around for a token before the first one.
    const std::size_t bit = static_cast<std::uint32_t>(token) - static_cast<std::uint32_t>(tokens_.front());
    return bit < 64 * bits_.size() && (bits_[bit / 64] >> bit % 64 & 1) != 0;
  }
  /// At most `kMaxClusters`, ascending; none when nothing is looked for.
  [[nodiscard]] std::span<const Cluster> clusters() const noexcept { return clusters_; }

 private:
  std::vector<TokenId> tokens_;  ///< ascending
  std::vector<Cluster> clusters_;
  /// Bit i stands for `tokens_.front() + i`; empty where that would take too much memory.
  std::vector<std::uint64_t> bits_;
};

/// Parallel arrays: where a token that was looked for stands, and which one it is.
struct TokenHits {
  std::vector<std::int64_t> positions;
  std::vector<TokenId> tokens;
};

/// Hits in rows, and the row of each; positions count from the row's begin.
struct RaggedTokenHits {
  std::vector<std::int64_t> rows;
  TokenHits hits;
};

// `Id` is any of the eight integer types of 8 to 64 bits. All of these throw Error (value) at `ids[position]`
// for an id below 0 or past TokenId among those that they look at.

template <typename Id>
[[nodiscard]] TokenHits scan(std::span<const Id> ids, const TokenSet& tokens);

/// Row r is `ids[offsets[r], offsets[r + 1])`; offsets are in order and in range. Errors are at
/// `ids[row][position]`.
template <typename Id>
[[nodiscard]] RaggedTokenHits scan(std::span<const Id> ids, std::span<const std::int64_t> offsets,
                                   const TokenSet& tokens);

template <typename Id>
[[nodiscard]] std::size_t count_tokens(std::span<const Id> ids, const TokenSet& tokens);

/// Position of the first hit; looks at nothing behind it.
template <typename Id>
[[nodiscard]] std::optional<std::size_t> find_first(std::span<const Id> ids, const TokenSet& tokens);

/// Position of the last hit; looks at nothing before it.
template <typename Id>
[[nodiscard]] std::optional<std::size_t> find_last(std::span<const Id> ids, const TokenSet& tokens);

}  // namespace turnloom
