#include "bpe/merge.hpp"

#include <algorithm>

#include "bpe/symbols.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::size_t kStride = 8;  // pairs that a vector register may hold

}  // namespace

// A symbol that was merged into its left neighbour has no id. A candidate is stale when its pair is no longer
// there; since a symbol only ever grows, its pair then has another rank.
const std::vector<Symbol>& LongMerger::merge(const BpeTables& tables, std::string_view word) {
  symbols_.clear();
  for_each_symbol(tables, word,
                  [&](TokenId id, std::size_t end) { symbols_.push_back({id, static_cast<std::uint32_t>(end)}); });
  const auto n = static_cast<std::uint32_t>(symbols_.size());
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  };
  const auto rank_at = [&](std::uint32_t left) {
    const std::uint32_t right = neighbours_[left].next;
    return right == kNone ? MergeTable::kNoMerge : tables.merges.find(symbols_[left].id, symbols_[right].id);
  };
  neighbours_.clear();
  for (std::uint32_t i = 0; i < n; ++i) neighbours_.push_back({i == 0 ? kNone : i - 1, i + 1 == n ? kNone : i + 1});
  queue_.clear();
  for (std::uint32_t i = 0; i < n; ++i) {
    if (const std::uint32_t rank = rank_at(i); rank != MergeTable::kNoMerge) queue_.push_back({rank, i});
  }
  std::ranges::make_heap(queue_, later);
  const auto push = [&](std::uint32_t left) {
    if (const std::uint32_t rank = rank_at(left); rank != MergeTable::kNoMerge) {
      queue_.push_back({rank, left});
      std::ranges::push_heap(queue_, later);
    }
  };
  while (!queue_.empty()) {
    const auto [rank, left] = queue_.front();
    std::ranges::pop_heap(queue_, later);
    queue_.pop_back();
    if (symbols_[left].id == kNoToken || rank_at(left) != rank) continue;
    const auto [previous, right] = neighbours_[left];
    symbols_[left] = {tables.merges.result(rank), symbols_[right].end};
    symbols_[right].id = kNoToken;
    const std::uint32_t next = neighbours_[right].next;
    neighbours_[left].next = next;
    if (next != kNone) neighbours_[next].previous = left;
    if (previous != kNone) push(previous);
    push(left);
  }
  std::erase_if(symbols_, [](const Symbol& symbol) { return symbol.id == kNoToken; });
  return symbols_;
}

void ShortMerger::start(const BpeTables& tables, std::string_view word) {
  n_ = 0;
  begins_[0] = 0;
  for_each_symbol(tables, word, [&](TokenId id, std::size_t end) {
    ids_[n_] = id;
    begins_[++n_] = static_cast<std::uint8_t>(end);
  });
  for (std::size_t i = 0; i < n_; ++i) {
    next_[i] = static_cast<std::uint8_t>(i + 1);
    previous_[i + 1] = static_cast<std::uint8_t>(i);
  }
  n_padded_ = (n_ + kStride - 1) / kStride * kStride;
  if (tables.by_characters) {
    for (std::size_t i = 0; i + 1 < n_; ++i) pairs_[i] = pair_at(i, tables.merges.find(ids_[i], ids_[i + 1]));
  } else {
    const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(word[i])); };
    for (std::size_t i = 0; i + 1 < n_; ++i) {
      pairs_[i] = pair_at(i, tables.byte_pair_ranks[byte(i) << 8 | byte(i + 1)]);
    }
  }
  for (std::size_t i = n_ - 1; i < n_padded_; ++i) pairs_[i] = kNoPair;
  waits_ = false;
}

bool ShortMerger::step(const MergeTable& table) {
  if (waits_) look_up_neighbours(table);
  std::int32_t pair = kNoPair;
  for (std::size_t i = 0; i < n_padded_ / kStride * kStride; ++i) pair = std::min(pair, pairs_[i]);
  if (pair == kNoPair) return false;
  const auto left = static_cast<std::size_t>(pair) & (kMaxBytes - 1);
  const std::size_t right = next_[left];
  const std::size_t next = next_[right];
  ids_[left] = table.result(static_cast<std::uint32_t>(pair) >> kPlaceBits);
  pairs_[right] = kNoPair;
  next_[left] = static_cast<std::uint8_t>(next);
  previous_[next] = static_cast<std::uint8_t>(left);
  merged_ = left;
  waits_ = true;
  if (next < n_) table.prefetch(right_slot_ = table.slot_of(ids_[left], ids_[next]));
  if (left > 0) table.prefetch(left_slot_ = table.slot_of(ids_[previous_[left]], ids_[left]));
  return true;
}

void ShortMerger::look_up_neighbours(const MergeTable& table) noexcept {
  const std::size_t next = next_[merged_];
  pairs_[merged_] =
      next < n_ ? pair_at(merged_, table.find_for_later(ids_[merged_], ids_[next], right_slot_)) : kNoPair;
  if (merged_ > 0) {
    const std::size_t left = previous_[merged_];
    pairs_[left] = pair_at(left, table.find_for_later(ids_[left], ids_[merged_], left_slot_));
  }
  waits_ = false;
}

}  // namespace turnloom
