#include "turnloom/history.hpp"

#include <utility>

#include "turnloom/prompt.hpp"

namespace turnloom {

// Both grow a copy, which shares all memory: if there is not enough for one column, none has grown.

void TokenHistory::append_rendered(const TokenColumns& columns, std::int32_t first_message) {
  const std::size_t n = columns.size();
  TokenHistory grown = *this;
  grown.token_ids.append(columns.token_ids);
  const std::span<std::int32_t> indices = grown.message_indices.grow(n);
  std::ranges::transform(columns.message_indices, indices.begin(), [&](std::int32_t index) {
    return index == kNoMessage ? kNoMessage : first_message + index;
  });
  if (columns.fields.size() == n) {
    grown.fields.append(columns.fields);
    grown.sampled_mask.append(columns.sampled_mask);
    grown.is_content.append(columns.is_content);
  } else {
    grown.is_attributed = false;
    grown.fields.append(n, 0);
    grown.sampled_mask.append(n, 0);
    grown.is_content.append(n, 0);
  }
  grown.loss_mask.append(n, 0);
  grown.logprobs.append(n, 0.0F);
  *this = std::move(grown);
}

void TokenHistory::append_sampled(std::span<const TokenId> ids, std::span<const std::uint8_t> ids_fields,
                                  std::span<const float> ids_logprobs, std::int32_t message) {
  TokenHistory grown = *this;
  grown.token_ids.append(ids);
  grown.message_indices.append(ids.size(), message);
  grown.fields.append(ids_fields);
  grown.sampled_mask.append(ids.size(), 1);
  grown.is_content.append(ids.size(), 1);
  grown.loss_mask.append(ids.size(), 1);
  grown.logprobs.append(ids_logprobs);
  *this = std::move(grown);
}

}  // namespace turnloom
