#include "bpe/merge_table.hpp"

#include "turnloom/error.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {

// Few buckets are full: a table that is read at random costs by its misses.
MergeTable::MergeTable(std::span<const Merge> merges) : n_buckets_(merges.size() + 1), buckets_(n_buckets_) {
  std::uint32_t end_rank = 0;
  for (const Merge& merge : merges) {
    if (merge.rank >= kNoMerge) throw Error(ErrorKind::value, "merges", "too many");
    end_rank = std::max(end_rank, merge.rank + 1);
  }
  results_.assign(end_rank, kNoToken);
  for (const Merge& merge : merges) {
    const std::uint64_t pair = ~(pack(merge.left, merge.right) << kRankBits);
    std::size_t bucket = bucket_of(merge.left, merge.right);
    std::uint64_t* slot = buckets_[bucket].slots;
    while (*slot != kEmpty && (*slot ^ pair) > kNoMerge) {
      if (++slot == std::end(buckets_[bucket].slots)) slot = buckets_[bucket = next(bucket)].slots;
    }
    *slot = pair ^ merge.rank;
    results_[merge.rank] = merge.result;
  }
}

}  // namespace turnloom
