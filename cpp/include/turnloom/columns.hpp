// The per-token arrays of a rendered prompt or of a batch of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
  std::vector<std::uint8_t> loss_mask;     ///< 0 or 1; empty where it is `sampled_mask`
  /// begin and end of each token in the rendered text, interleaved; empty unless asked for
  std::vector<std::int64_t> byte_offsets;

  [[nodiscard]] std::size_t size() const noexcept { return token_ids.size(); }
};

/// `columns` behind ids of which no more is known: those of a prompt and its completion.
[[nodiscard]] TokenColumns with_history(std::span<const TokenId> prompt_ids,
                                        std::span<const TokenId> completion_ids, const TokenColumns& columns);

}  // namespace turnloom
