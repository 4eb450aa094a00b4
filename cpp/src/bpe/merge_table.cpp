#include "bpe/merge_table.hpp"

#include <algorithm>
#include <bit>

#include "turnloom/error.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {

MergeTable::MergeTable(std::span<const Merge> merges) {
  std::uint32_t end_rank = 0;
  for (const Merge& merge : merges) end_rank = std::max(end_rank, merge.rank + 1);
  if (end_rank > kMaxRanks) throw Error(ErrorKind::value, "merges", "too many");
  results_.assign(end_rank, kNoToken);
  const std::size_t n_slots = std::bit_ceil(std::max<std::size_t>(16, merges.size() * 3 / 2));
  slots_.assign(n_slots, kEmpty);
  shift_ = 64 - std::countr_zero(n_slots);
  for (const Merge& merge : merges) {
    const std::uint64_t pair = pack(merge.left, merge.right);
    std::size_t slot = hash(pair) >> shift_;
    while (slots_[slot] != kEmpty && slots_[slot] >> kRankBits != pair) slot = (slot + 1) & (n_slots - 1);
    slots_[slot] = pair << kRankBits | merge.rank;
    results_[merge.rank] = merge.result;
  }
}

}  // namespace turnloom
