#pragma once

#include <string>

namespace turnloom {

/// Appends what Python's `repr(float)` prints: `1.0`, `1e-07`, `1e+16`, `nan`, `-inf`.
void append_float_repr(double value, std::string& out);

}  // namespace turnloom
