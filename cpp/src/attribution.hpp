// From prompts to columns: each token takes the origin of the piece that holds its first byte.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "segmenter.hpp"
#include "turnloom/columns.hpp"

namespace turnloom {

struct SegmentedPrompt {
  Prompt prompt;
  std::vector<Segment> segments;
};

/// The columns that are not always there.
struct ColumnChoice {
  bool byte_offsets = false;
  bool loss_mask = false;  ///< from `Piece::trained`
};

/// Appends the tokens of each prompt to `columns`, and to `row_ends` where each ends. The text encoder is
/// called once for all of them.
void encode_prompts(std::span<const SegmentedPrompt> prompts, const TextEncoder& encoder, ColumnChoice choice,
                    TokenColumns& columns, std::vector<std::size_t>& row_ends);

}  // namespace turnloom
