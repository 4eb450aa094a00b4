// Parsed JSON -> Python values.
//
// Everything here needs the interpreter attached.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "turnloom/parse.hpp"

namespace turnloom {

/// The value that begins at `nodes[index]`, as `json.loads` gives it; integers are exact. Keys that an object
/// has twice, of which the last counts, are appended to `duplicates`.
[[nodiscard]] pybind11::object to_python(std::string_view text, std::span<const JsonNode> nodes,
                                         std::size_t index, pybind11::list& duplicates);

[[nodiscard]] inline pybind11::str to_str(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace turnloom
