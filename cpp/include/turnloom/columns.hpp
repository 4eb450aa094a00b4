// The per-token arrays of a rendered prompt or of a batch of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "turnloom/tokenizer.hpp"

namespace turnloom {

/// Parallel arrays, one entry a token. Where the text encoder has no offsets, only ids and message indices
/// are there, and the others are empty.
struct TokenColumns {
  std::vector<TokenId> token_ids;
  std::vector<std::int32_t> message_indices;
  std::vector<std::uint8_t> fields;
  std::vector<std::uint8_t> sampled_mask;  ///< 0 or 1
  std::vector<std::uint8_t> is_content;    ///< 0 or 1
  /// begin and end of each token in the rendered text, interleaved; empty unless asked for
  std::vector<std::int64_t> byte_offsets;

  [[nodiscard]] std::size_t size() const noexcept { return token_ids.size(); }
};

}  // namespace turnloom
