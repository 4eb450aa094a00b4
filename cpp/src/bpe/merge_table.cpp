#include "bpe/merge_table.hpp"

#include <algorithm>
#include <numeric>

#include "turnloom/error.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

constexpr std::size_t kPairsInGroup = 4;  // on average

}  // namespace

MergeTable::MergeTable(std::span<const Merge> merges)
    : group_numbers_(merges.size() / kPairsInGroup + 1), slots_(merges.size() + merges.size() / 6 + 1) {
  std::uint32_t end_rank = 0;
  for (const Merge& merge : merges) {
    if (merge.rank >= kNoMerge) throw Error(ErrorKind::value, "merges", "too many");
    end_rank = std::max(end_rank, merge.rank + 1);
  }
  results_.assign(end_rank, kNoToken);
  std::vector<std::vector<std::uint64_t>> groups(group_numbers_.size());
  for (const Merge& merge : merges) {
    const std::uint64_t pair = pack(merge.left, merge.right);
    auto& group = groups[group_of(pair * 0x9E3779B97F4A7C15U)];
    std::erase_if(group, [&](std::uint64_t slot) { return slot >> kRankBits == pair; });
    group.push_back(pair << kRankBits | merge.rank);
    results_[merge.rank] = merge.result;
  }
  while (!place_groups(groups)) slots_ = LargeArray<std::uint64_t>(slots_.size() + slots_.size() / 8);
}

// The largest group first, while there is room. False if a group finds none.
bool MergeTable::place_groups(const std::vector<std::vector<std::uint64_t>>& groups) {
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i] = kEmpty;
  std::vector<std::uint32_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::uint32_t i) { return groups[i].size(); });
  for (const std::uint32_t i : order) {
    const auto& group = groups[i];
    const auto place = [&](std::uint64_t slot, std::uint16_t number) {
      return place_of((slot >> kRankBits) * 0x9E3779B97F4A7C15U, number);
    };
    for (std::uint16_t number = 0;; ++number) {
      std::size_t n_placed = 0;
      while (n_placed < group.size() && slots_[place(group[n_placed], number)] == kEmpty) {
        slots_[place(group[n_placed], number)] = group[n_placed];
        ++n_placed;
      }
      if (n_placed == group.size()) {
        group_numbers_[i] = number;
        break;
      }
      while (n_placed > 0) slots_[place(group[--n_placed], number)] = kEmpty;
      if (number == UINT16_MAX) return false;
    }
  }
  return true;
}

}  // namespace turnloom
