// Text forms of a Value, byte for byte as Python prints them.
#pragma once

#include <string>
#include <string_view>

#include "turnloom/value.hpp"

namespace turnloom {

/// The keyword arguments of Python's `json.dumps` that chat templates use.
struct JsonStyle {
  /// Spaces a level; negative means one line.
  int indent = -1;
  std::string_view item_separator = ", ";
  std::string_view key_separator = ": ";
};

/// Appends `json.dumps(value, ensure_ascii=False)`, in the given style. Linear in the size of the value.
/// With `indent >= 0` the item separator is used as given: pass "," for what `json.dumps(indent=n)` prints.
void write_json(const Value& value, const JsonStyle& style, std::string& out);

/// Appends `repr(value)`: what a Jinja template prints for a list or dict.
void write_python_repr(const Value& value, std::string& out);

/// `repr(text)`, as errors quote what the caller passed.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace turnloom
