// The rows of a batch cut to a length, and put side by side into bins of one length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "turnloom/types.hpp"

namespace turnloom {

/// What becomes of a row that is too long.
enum class CutSide : std::uint8_t {
  right,  ///< its end goes
  left,   ///< its beginning goes
  drop,   ///< all of it goes
};

/// A part of each row of a batch, which may be none of it.
struct RowParts {
  std::vector<std::int64_t> begins;   ///< in the columns of the batch
  std::vector<std::int64_t> offsets;  ///< in the columns of the parts; one more than rows
  std::vector<std::int64_t> dropped;  ///< rows of which all went, in order
};

/// Cuts every row to at most `max_length` tokens. `offsets` ascend and are one more than rows.
[[nodiscard]] RowParts cut_rows(std::span<const std::int64_t> offsets, std::int64_t max_length, CutSide side);

/// A column of the parts, out of that of the batch with `width` values a token. The parts lie in the column.
template <typename T>
[[nodiscard]] std::vector<T> take_rows(std::span<const T> column, std::size_t width, const RowParts& parts) {
  std::vector<T> taken(static_cast<std::size_t>(parts.offsets.back()) * width);
  for (std::size_t row = 0; row < parts.begins.size(); ++row) {
    const auto n_tokens = static_cast<std::size_t>(parts.offsets[row + 1] - parts.offsets[row]);
    const auto from = column.subspan(static_cast<std::size_t>(parts.begins[row]) * width, n_tokens * width);
    std::ranges::copy(from, taken.begin() + parts.offsets[row] * static_cast<std::ptrdiff_t>(width));
  }
  return taken;
}

constexpr std::int64_t kNoBin = -1;

/// Where each row of a batch stands.
struct Packing {
  std::int64_t n_bins = 0;
  std::vector<std::int64_t> bins;      ///< kNoBin for an empty row
  std::vector<std::int64_t> begins;    ///< in the bin
  std::vector<std::int32_t> segments;  ///< from 1 in each bin, in the order of `begins`; 0 for an empty row
};

/// First-fit decreasing: every row, the longest first and equal ones in order, goes into the first bin that
/// has room. O(n log n) for n rows.
/// Throws Error (value) for a row that is longer than a bin.
[[nodiscard]] Packing pack_rows(std::span<const std::int64_t> offsets, std::int64_t bin_length);

/// The columns of a batch that are packed. Those that are not there are empty, then and packed.
struct PackingInput {
  std::span<const TokenId> token_ids;
  std::span<const std::int32_t> message_indices;
  std::span<const std::uint8_t> loss_mask;
  std::span<const std::int64_t> offsets;
};

/// Bins one after the other, `bin_length` entries each.
struct PackedColumns {
  std::vector<TokenId> token_ids;
  std::vector<std::int32_t> message_indices;  ///< kNoMessage where nothing stands
  /// The first token of a row is not trained: what stands before it in the bin is not its context.
  std::vector<std::uint8_t> loss_mask;
  std::vector<std::int32_t> position_ids;  ///< from 0 in each row
  std::vector<std::int32_t> segment_ids;   ///< 0 where nothing stands
};

[[nodiscard]] PackedColumns pack_columns(const PackingInput& batch, const Packing& packing,
                                         std::int64_t bin_length, TokenId pad);

}  // namespace turnloom
