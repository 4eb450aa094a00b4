#include "bpe/merge.hpp"

#include <algorithm>
#include <cstddef>

#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

// Words of more symbols merge by a queue: looking through all pairs at every merge is quadratic.
constexpr std::size_t kShortWord = 48;

constexpr std::uint32_t kNone = UINT32_MAX;

}  // namespace

void Merger::merge(const MergeTable& table, std::vector<Symbol>& symbols) {
  if (symbols.size() < 2) return;
  symbols.size() <= kShortWord ? merge_short(table, symbols) : merge_long(table, symbols);
}

void Merger::merge_short(const MergeTable& table, std::vector<Symbol>& symbols) {
  ranks_.clear();
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) ranks_.push_back(table.find(symbols[i].id, symbols[i + 1].id));
  while (!ranks_.empty()) {
    const auto lowest = std::ranges::min_element(ranks_);
    if (*lowest == kNoMerge) return;
    const auto left = static_cast<std::size_t>(lowest - ranks_.begin());
    symbols[left] = {table.result(*lowest), symbols[left + 1].end};
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(left) + 1);
    ranks_.erase(lowest);
    if (left > 0) ranks_[left - 1] = table.find(symbols[left - 1].id, symbols[left].id);
    if (left < ranks_.size()) ranks_[left] = table.find(symbols[left].id, symbols[left + 1].id);
  }
}

// A symbol that was merged into its left neighbour has no id. A candidate is stale when its pair is no longer
// there; since a symbol only ever grows, its pair then has another rank.
void Merger::merge_long(const MergeTable& table, std::vector<Symbol>& symbols) {
  const auto n = static_cast<std::uint32_t>(symbols.size());
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  };
  const auto rank_at = [&](std::uint32_t left) {
    const std::uint32_t right = neighbours_[left].next;
    return right == kNone ? kNoMerge : table.find(symbols[left].id, symbols[right].id);
  };
  neighbours_.clear();
  for (std::uint32_t i = 0; i < n; ++i) neighbours_.push_back({i == 0 ? kNone : i - 1, i + 1 == n ? kNone : i + 1});
  queue_.clear();
  for (std::uint32_t i = 0; i < n; ++i) {
    if (const std::uint32_t rank = rank_at(i); rank != kNoMerge) queue_.push_back({rank, i});
  }
  std::ranges::make_heap(queue_, later);
  const auto push = [&](std::uint32_t left) {
    if (const std::uint32_t rank = rank_at(left); rank != kNoMerge) {
      queue_.push_back({rank, left});
      std::ranges::push_heap(queue_, later);
    }
  };
  while (!queue_.empty()) {
    const auto [rank, left] = queue_.front();
    std::ranges::pop_heap(queue_, later);
    queue_.pop_back();
    if (symbols[left].id == kNoToken || rank_at(left) != rank) continue;
    const auto [previous, right] = neighbours_[left];
    symbols[left] = {table.result(rank), symbols[right].end};
    symbols[right].id = kNoToken;
    const std::uint32_t next = neighbours_[right].next;
    neighbours_[left].next = next;
    if (next != kNone) neighbours_[next].previous = left;
    if (previous != kNone) push(previous);
    push(left);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.id == kNoToken; });
}

}  // namespace turnloom
