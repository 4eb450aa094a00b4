#include "turnloom/packing.hpp"

#include <bit>
#include <functional>
#include <numeric>
#include <string>

#include "turnloom/error.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

std::int64_t length_of(std::span<const std::int64_t> offsets, std::size_t row) {
  return offsets[row + 1] - offsets[row];
}

// Free room of bins that stand in a line without end, of which `n` can be opened. An inner node of the tree
// has the most room below it, so the first bin with enough is found from the root.
class FreeRoom {
 public:
  FreeRoom(std::size_t n, std::int64_t bin_length)
      : n_leaves_(std::bit_ceil(std::max<std::size_t>(1, n))), most_(2 * n_leaves_, bin_length) {}

  // The bin that it was taken in.
  std::size_t take(std::int64_t length) {
    std::size_t node = 1;
    while (node < n_leaves_) node = 2 * node + (most_[2 * node] >= length ? 0 : 1);
    const std::size_t bin = node - n_leaves_;
    most_[node] -= length;
    for (node /= 2; node > 0; node /= 2) most_[node] = std::max(most_[2 * node], most_[2 * node + 1]);
    return bin;
  }

  [[nodiscard]] std::int64_t in(std::size_t bin) const { return most_[n_leaves_ + bin]; }

 private:
  std::size_t n_leaves_;
  std::vector<std::int64_t> most_;
};

std::vector<std::size_t> longest_first(std::span<const std::int64_t> offsets) {
  std::vector<std::size_t> rows(offsets.size() - 1);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::erase_if(rows, [&](std::size_t row) { return length_of(offsets, row) == 0; });
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [&](std::size_t row) { return length_of(offsets, row); });
  return rows;
}

}  // namespace

RowParts cut_rows(std::span<const std::int64_t> offsets, std::int64_t max_length, CutSide side) {
  const std::size_t n_rows = offsets.size() - 1;
  RowParts parts;
  parts.begins.reserve(n_rows);
  parts.offsets.reserve(n_rows + 1);
  parts.offsets.push_back(0);
  for (std::size_t row = 0; row < n_rows; ++row) {
    const std::int64_t excess = length_of(offsets, row) - max_length;
    std::int64_t begin = offsets[row];
    std::int64_t n_kept = length_of(offsets, row);
    if (excess > 0) {
      n_kept = side == CutSide::drop ? 0 : max_length;
      if (side == CutSide::left) begin += excess;
      if (side == CutSide::drop) parts.dropped.push_back(static_cast<std::int64_t>(row));
    }
    parts.begins.push_back(begin);
    parts.offsets.push_back(parts.offsets.back() + n_kept);
  }
  return parts;
}

Packing pack_rows(std::span<const std::int64_t> offsets, std::int64_t bin_length) {
  const std::size_t n_rows = offsets.size() - 1;
  for (std::size_t row = 0; row < n_rows; ++row) {
    if (length_of(offsets, row) <= bin_length) continue;
    throw Error(ErrorKind::value, "row " + std::to_string(row),
                std::to_string(length_of(offsets, row)) + " tokens do not fit into length=" +
                    std::to_string(bin_length) + "; truncate the batch first");
  }
  Packing packing;
  packing.bins.assign(n_rows, kNoBin);
  packing.begins.assign(n_rows, 0);
  packing.segments.assign(n_rows, 0);
  const std::vector<std::size_t> rows = longest_first(offsets);
  FreeRoom room(rows.size(), bin_length);
  std::vector<std::int32_t> n_segments(rows.size());
  for (const std::size_t row : rows) {
    const std::size_t bin = room.take(length_of(offsets, row));
    packing.bins[row] = static_cast<std::int64_t>(bin);
    packing.begins[row] = bin_length - room.in(bin) - length_of(offsets, row);
    packing.segments[row] = ++n_segments[bin];
    packing.n_bins = std::max(packing.n_bins, packing.bins[row] + 1);
  }
  return packing;
}

PackedColumns pack_columns(const PackingInput& batch, const Packing& packing, std::int64_t bin_length,
                           TokenId pad) {
  const auto size = static_cast<std::size_t>(packing.n_bins * bin_length);
  const bool has_messages = !batch.message_indices.empty();
  const bool has_loss = !batch.loss_mask.empty();
  PackedColumns packed;
  packed.token_ids.assign(size, pad);
  packed.message_indices.assign(has_messages ? size : 0, kNoMessage);
  packed.loss_mask.assign(has_loss ? size : 0, 0);
  packed.position_ids.assign(size, 0);
  packed.segment_ids.assign(size, 0);
  for (std::size_t row = 0; row < packing.bins.size(); ++row) {
    if (packing.bins[row] == kNoBin) continue;
    const auto from = static_cast<std::size_t>(batch.offsets[row]);
    const auto n_tokens = static_cast<std::size_t>(length_of(batch.offsets, row));
    const std::ptrdiff_t to = packing.bins[row] * bin_length + packing.begins[row];
    std::ranges::copy(batch.token_ids.subspan(from, n_tokens), packed.token_ids.begin() + to);
    if (has_messages) {
      std::ranges::copy(batch.message_indices.subspan(from, n_tokens), packed.message_indices.begin() + to);
    }
    if (has_loss) {
      std::ranges::copy(batch.loss_mask.subspan(from + 1, n_tokens - 1), packed.loss_mask.begin() + to + 1);
    }
    const auto positions = packed.position_ids.begin() + to;
    std::iota(positions, positions + static_cast<std::ptrdiff_t>(n_tokens), 0);
    std::fill_n(packed.segment_ids.begin() + to, n_tokens, packing.segments[row]);
  }
  return packed;
}

}  // namespace turnloom
