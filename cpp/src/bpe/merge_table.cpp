#include "bpe/merge_table.hpp"

#include <algorithm>
#include <bit>

#include "turnloom/error.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {

MergeTable::MergeTable(std::span<const Merge> merges)
    : slots_(std::bit_ceil(std::max<std::size_t>(16, merges.size() * 3 / 2))),
      shift_(64 - std::countr_zero(slots_.size())) {
  std::uint32_t end_rank = 0;
  for (const Merge& merge : merges) end_rank = std::max(end_rank, merge.rank + 1);
  if (end_rank > kNoMerge) throw Error(ErrorKind::value, "merges", "too many");
  results_.assign(end_rank, kNoToken);
  for (const Merge& merge : merges) {
    const std::uint64_t pair = pack(merge.left, merge.right);
    std::size_t slot = slot_of(merge.left, merge.right);
    while (~slots_[slot] != kEmpty && ~slots_[slot] >> kRankBits != pair) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = ~(pair << kRankBits | merge.rank);
    results_[merge.rank] = merge.result;
  }
}

}  // namespace turnloom
