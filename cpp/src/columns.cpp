#include "turnloom/columns.hpp"

#include "turnloom/prompt.hpp"

namespace turnloom {

TokenColumns with_history(std::span<const TokenId> prompt_ids, std::span<const TokenId> completion_ids,
                          const TokenColumns& columns) {
  const std::size_t n_before = prompt_ids.size() + completion_ids.size();
  TokenColumns all;
  all.token_ids.reserve(n_before + columns.size());
  all.token_ids.assign(prompt_ids.begin(), prompt_ids.end());
  all.token_ids.insert(all.token_ids.end(), completion_ids.begin(), completion_ids.end());
  all.token_ids.insert(all.token_ids.end(), columns.token_ids.begin(), columns.token_ids.end());
  const auto prepend = [&](const auto& column, auto value, auto& to) {
    if (column.size() != columns.size()) return;  // not available
    to.reserve(n_before + column.size());
    to.assign(n_before, value);
    to.insert(to.end(), column.begin(), column.end());
  };
  prepend(columns.message_indices, kNoMessage, all.message_indices);
  prepend(columns.fields, static_cast<std::uint8_t>(Field::scaffold), all.fields);
  prepend(columns.sampled_mask, std::uint8_t{0}, all.sampled_mask);
  prepend(columns.is_content, std::uint8_t{0}, all.is_content);
  return all;
}

}  // namespace turnloom
