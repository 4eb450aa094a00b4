// The vocabulary of a tokenizer.json.
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>
#include <utility>
#include <vector>

#include "read_value.hpp"
#include "turnloom/types.hpp"

namespace turnloom {

/// Spellings and ids of a dict, valid as long as `keep_alive`. Throws Error: type for a key that is no str,
/// value for one with a lone surrogate and for a value that is no token id.
[[nodiscard]] std::vector<std::pair<std::string_view, TokenId>> read_vocab(const pybind11::dict& vocab,
                                                                           KeepAlive& keep_alive);

}  // namespace turnloom
