// Merging the symbols of words.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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

/// One short word while it merges. Its steps are single merges, so that several words can take turns: while
/// one waits for memory, the others go on. A step has no branch that depends on the word, but for its end.
template <std::size_t kMaxBytes>
class ShortMerger {
 public:
  void start(const BpeTables& tables, std::string_view word) noexcept;

  /// Looks up the pairs that the last merge made. To be called before each merge, best some time before.
  void look_up(const MergeTable& table) noexcept {
    const std::size_t next = next_[merged_];
    const std::size_t previous = previous_[merged_];
    pairs_[merged_] = pair_at(merged_, table.find(ids_[merged_], ids_[next], right_place_));
    pairs_[previous] = pair_at(previous, table.find(ids_[previous], ids_[merged_], left_place_));
  }

  /// Merges what LongMerger would merge next. False if there is nothing.
  [[nodiscard]] bool merge(const MergeTable& table) noexcept {
    std::array<std::int32_t, 4> lowest{kNoPair, kNoPair, kNoPair, kNoPair};
    for (std::size_t i = 0; i < kMaxBytes; i += lowest.size()) {
      for (std::size_t k = 0; k < lowest.size(); ++k) lowest[k] = std::min(lowest[k], pairs_[i + k]);
    }
    const std::int32_t pair = std::min(std::min(lowest[0], lowest[1]), std::min(lowest[2], lowest[3]));
    if (pair >= kNoPair) return false;
    const auto left = static_cast<std::size_t>(pair) & (kPlaces - 1);
    const std::size_t right = next_[left];
    const std::size_t next = next_[right];
    ids_[left] = table.result(static_cast<std::uint32_t>(pair) >> kPlaceBits);
    pairs_[right] = kNoPair;
    next_[left] = static_cast<std::uint8_t>(next);
    previous_[next] = static_cast<std::uint8_t>(left);
    merged_ = left;
    right_place_ = table.place_of(ids_[left], ids_[next]);
    left_place_ = table.place_of(ids_[previous_[left]], ids_[left]);
    table.prefetch(right_place_);
    table.prefetch(left_place_);
    return true;
  }

  [[nodiscard]] bool is_one_token() const noexcept { return next_[0] == kEnd; }
  /// Calls `visit(id, n_bytes)` for every token, in order.
  template <typename Visit>
  void for_each_token(Visit visit) const {
    for (std::size_t i = 0; i != kEnd; i = next_[i]) {
      visit(ids_[i], static_cast<std::size_t>(begins_[next_[i]] - begins_[i]));
    }
  }

 private:
  // Places are the symbols at first, and two that are neighbours of the first and the last.
  static constexpr int kPlaceBits = 7;
  static constexpr std::size_t kPlaces = std::size_t{1} << kPlaceBits;
  static constexpr std::size_t kEnd = kMaxBytes;
  static constexpr std::size_t kStart = kMaxBytes + 1;
  static_assert(kStart < kPlaces && kPlaceBits + MergeTable::kRankBits < 31);

  // A pair as one number: its rank, then its place. The lowest is the next to merge.
  [[nodiscard]] static std::int32_t pair_at(std::size_t place, std::uint32_t rank) noexcept {
    return static_cast<std::int32_t>(rank << kPlaceBits | static_cast<std::uint32_t>(place));
  }
  static constexpr std::int32_t kNoPair = static_cast<std::int32_t>(MergeTable::kNoMerge << kPlaceBits);

  std::size_t merged_ = 0;  ///< place of the last merge
  std::size_t left_place_ = 0;
  std::size_t right_place_ = 0;
  std::int32_t pairs_[kMaxBytes + 2];  ///< by the place of the left symbol
  TokenId ids_[kMaxBytes + 2];
  std::uint8_t begins_[kMaxBytes + 2];
  std::uint8_t next_[kMaxBytes + 2];
  std::uint8_t previous_[kMaxBytes + 2];
};

extern template class ShortMerger<16>;
extern template class ShortMerger<64>;

/// Merges words of at most kMaxBytes, several of them in turn. `next` gives them, an optional Item with its
/// `bytes`, nothing at the end; `keep(merger, item)` takes what became of them, in any order.
template <std::size_t kMaxBytes, typename Item, typename Next, typename Keep>
void merge_side_by_side(const BpeTables& tables, Next next, Keep keep) {
  struct Lane {
    ShortMerger<kMaxBytes> merger;
    Item item;
  };
  std::array<Lane, 4> lanes;
  const auto start_next = [&](Lane& lane) {
    const std::optional<Item> item = next();
    if (!item) return false;
    lane.item = *item;
    lane.merger.start(tables, item->bytes);
    return true;
  };
  std::size_t n_lanes = 0;
  while (n_lanes < lanes.size() && start_next(lanes[n_lanes])) ++n_lanes;
  while (n_lanes > 0) {
    for (std::size_t i = 0; i < n_lanes; ++i) lanes[i].merger.look_up(tables.merges);
    for (std::size_t i = 0; i < n_lanes;) {
      Lane& lane = lanes[i];
      if (!lane.merger.merge(tables.merges)) {
        keep(lane.merger, lane.item);
        if (!start_next(lane)) {
          lane = lanes[--n_lanes];
          continue;
        }
      }
      ++i;
    }
  }
}

}  // namespace turnloom
