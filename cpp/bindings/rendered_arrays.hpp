// What rendering gives, as Python sees it.
#pragma once

#include <pybind11/pybind11.h>

#include "turnloom/columns.hpp"
#include "turnloom/tokenizer.hpp"

namespace turnloom {

/// token_ids, message_indices, fields, sampled_mask, is_content, byte_offsets or None
[[nodiscard]] pybind11::tuple to_arrays(TokenColumns&& columns, bool byte_offsets);

/// message_index, field, byte_begin, byte_end, token id, became_token
[[nodiscard]] pybind11::tuple to_tuple(const MarkerHit& marker);

}  // namespace turnloom
