#include "bpe/merge.hpp"

#include <algorithm>

#include "bpe/symbols.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

}  // namespace

// A symbol that was merged into its left neighbour has no id. A candidate is stale when its pair is no longer
// there; since a symbol only ever grows, its pair then has another rank.
const std::vector<Symbol>& LongMerger::merge(const BpeTables& tables, std::string_view word) {
  symbols_.clear();
  for_each_symbol(tables, word, [&](TokenId id, std::size_t end) {
    symbols_.push_back({id, static_cast<std::uint32_t>(end)});
  });
  const auto n = static_cast<std::uint32_t>(symbols_.size());
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  };
  const auto rank_at = [&](std::uint32_t left) {
    const std::uint32_t right = neighbours_[left].next;
    return right == kNone ? MergeTable::kNoMerge : tables.merges.find(symbols_[left].id, symbols_[right].id);
  };
  neighbours_.clear();
  for (std::uint32_t i = 0; i < n; ++i)
    neighbours_.push_back({i == 0 ? kNone : i - 1, i + 1 == n ? kNone : i + 1});
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

template <std::size_t kMaxBytes>
void ShortMerger<kMaxBytes>::start(const BpeTables& tables, std::string_view word) noexcept {
  std::size_t n = 0;
  for_each_symbol(tables, word, [&](TokenId id, std::size_t end) {
    ids_[n] = id;
    begins_[n + 1] = static_cast<std::uint8_t>(end);
    previous_[n + 1] = static_cast<std::uint8_t>(n);
    next_[n] = static_cast<std::uint8_t>(n + 1);
    ++n;
  });
  begins_[0] = 0;
  previous_[0] = kStart;
  next_[n - 1] = kEnd;
  previous_[kEnd] = static_cast<std::uint8_t>(n - 1);
  begins_[kEnd] = static_cast<std::uint8_t>(word.size());
  next_[kEnd] = kEnd;
  next_[kStart] = 0;
  ids_[kStart] = ids_[kEnd] = MergeTable::kNoNeighbour;
  std::ranges::fill(pairs_, kNoPair);
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const auto byte = [&](std::size_t at) {
      return static_cast<std::size_t>(static_cast<unsigned char>(word[at]));
    };
    pairs_[i] = pair_at(i, tables.by_characters ? tables.merges.find(ids_[i], ids_[i + 1])
                                                : tables.byte_pair_ranks[byte(i) << 8 | byte(i + 1)]);
  }
  // Nothing is merged yet: the first look-up is of the first pair again.
  merged_ = 0;
  right_place_ = tables.merges.place_of(ids_[0], ids_[next_[0]]);
  left_place_ = tables.merges.place_of(MergeTable::kNoNeighbour, ids_[0]);
}

template class ShortMerger<16>;
template class ShortMerger<64>;

}  // namespace turnloom
