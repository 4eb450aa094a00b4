// Merging the symbols of words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bpe/bpe_tables.hpp"

namespace turnloom {

/// A token and where its bytes end in the word.
struct Symbol {
  TokenId id;
  std::uint32_t end;
};

/// Merges words of any length, in n log n. Kept between words for its memory.
class LongMerger {
 public:
  /// Merges neighbours until none merge: the pair of the lowest rank first, of equal ones the leftmost.
  [[nodiscard]] const std::vector<Symbol>& merge(const BpeTables& tables, std::string_view word);

 private:
  struct Candidate {
    std::uint32_t rank;
    std::uint32_t left;  ///< index of the left symbol
  };
  struct Neighbours {
    std::uint32_t previous;
    std::uint32_t next;
  };

  std::vector<Symbol> symbols_;
  std::vector<Candidate> queue_;
  std::vector<Neighbours> neighbours_;
};

/// One short word while it merges. Its steps are single merges, so that several words can take turns: while one
/// waits for memory, the others go on.
class ShortMerger {
 public:
  static constexpr std::size_t kMaxBytes = 64;

  void start(const BpeTables& tables, std::string_view word);
  /// One merge, the same that LongMerger would do next. False if there is none.
  [[nodiscard]] bool step(const MergeTable& table);

  /// Calls `visit(id, n_bytes)` for every token, in order.
  template <typename Visit>
  void for_each_token(Visit visit) const {
    for (std::size_t i = 0; i < n_; i = next_[i]) visit(ids_[i], static_cast<std::size_t>(begins_[next_[i]] - begins_[i]));
  }

 private:
  // A pair as one number: its rank, then its place. The lowest is the next to merge.
  static constexpr int kPlaceBits = 6;
  static constexpr std::int32_t kNoPair = INT32_MAX;

  [[nodiscard]] static std::int32_t pair_at(std::size_t place, std::uint32_t rank) noexcept {
    return rank == MergeTable::kNoMerge ? kNoPair : static_cast<std::int32_t>(rank << kPlaceBits | place);
  }
  void look_up_neighbours(const MergeTable& table) noexcept;

  std::size_t n_ = 0;         ///< symbols at first
  std::size_t n_padded_ = 0;  ///< pairs that are looked at
  std::size_t merged_ = 0;    ///< place of the last merge, whose pairs are not looked up yet
  bool waits_ = false;
  std::size_t left_slot_ = 0;
  std::size_t right_slot_ = 0;
  std::int32_t pairs_[kMaxBytes];  ///< by the place of the left symbol
  TokenId ids_[kMaxBytes];
  std::uint8_t begins_[kMaxBytes + 1];
  std::uint8_t next_[kMaxBytes];  ///< place of the next symbol; n_ after the last
  std::uint8_t previous_[kMaxBytes + 1];
};

}  // namespace turnloom
