// Parsed completions -> the Python objects of `turnloom.parsing`.
//
// Everything here needs the interpreter attached.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "turnloom/parse.hpp"

namespace turnloom {

[[nodiscard]] pybind11::object to_python(const ParsedCompletion& completion);
[[nodiscard]] pybind11::list to_python(const std::vector<Delta>& deltas);

}  // namespace turnloom
