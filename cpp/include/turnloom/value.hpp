// A tree of JSON-like values: what can stand in tool arguments, tool specs and content parts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace turnloom {

struct Value;
struct Member;

/// An integer that does not fit 64 bits, as its decimal digits.
struct BigInteger {
  std::string digits;
};

using Array = std::vector<Value>;
using Object = std::vector<Member>;

/// One value. Strings are views: the memory behind them must outlive the value.
struct Value {
  using Null = std::monostate;
  std::variant<Null, bool, std::int64_t, BigInteger, double, std::string_view, Array, Object> data;
};

/// One entry of an object, in the caller's order. The key is a null, bool, integer, float or string,
/// as in a Python dict; the writers print it as Python does.
struct Member {
  Value key;
  Value value;
};

}  // namespace turnloom
