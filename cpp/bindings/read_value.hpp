// Python strings and JSON-like values -> views and turnloom::Value.
//
// Everything here needs the interpreter attached.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "turnloom/value.hpp"

namespace turnloom {

/// Where in the caller's input a value stands. Places are links of a list that lives on the stack, so one
/// costs nothing until an error asks for its text. A place must not outlive its parent.
class Place {
 public:
  /// An argument, such as `messages`. The text must outlive the place.
  explicit Place(std::string_view argument) : Place(nullptr, Kind::field, argument, 0, nullptr) {}

  /// `<this>.name`. The text must outlive the place.
  [[nodiscard]] Place field(std::string_view name) const& {
    return Place(this, Kind::field, name, 0, nullptr);
  }
  /// `<this>[index]`
  [[nodiscard]] Place index(std::size_t index) const& { return Place(this, Kind::index, {}, index, nullptr); }
  /// `<this>['key']`, with the repr of the key. The reference is borrowed.
  [[nodiscard]] Place key(PyObject* key) const& { return Place(this, Kind::key, {}, 0, key); }

  // A temporary would be gone before its child is used: name the parent.
  Place field(std::string_view name) const&& = delete;
  Place index(std::size_t index) const&& = delete;
  Place key(PyObject* key) const&& = delete;

  /// The whole path, such as `messages[1].tool_calls[0].function.arguments['a'][2]`.
  [[nodiscard]] std::string text() const;

 private:
  enum class Kind : unsigned char { field, index, key };

  Place(const Place* parent, Kind kind, std::string_view name, std::size_t index, PyObject* key)
      : parent_(parent), kind_(kind), name_(name), index_(index), key_(key) {}

  const Place* parent_;
  Kind kind_;
  std::string_view name_;
  std::size_t index_;
  PyObject* key_;
};

/// Owned references to the strings that views point into. Another thread may drop them from the caller's
/// containers once the interpreter is released. Attach before it is destroyed.
using KeepAlive = std::vector<pybind11::object>;

/// The `__name__` of the object's type, for "expected str, got int".
[[nodiscard]] std::string type_name(PyObject* object);

/// The UTF-8 text of a str, valid as long as `keep_alive`. Throws turnloom::Error: type when it is not a str,
/// value when it holds a lone surrogate.
[[nodiscard]] std::string_view read_string(PyObject* object, const Place& place, KeepAlive& keep_alive);

/// A tree of dict, list, tuple, str, int, float, bool and None; its strings are valid as long as
/// `keep_alive`. The caller holds a reference to `object` during the call.
///
/// Throws turnloom::Error: type for any other object or key, value for a lone surrogate, an integer with more
/// digits than Python prints, and containers nested deeper than 500 levels (so for a cycle, too).
[[nodiscard]] Value read_value(PyObject* object, const Place& place, KeepAlive& keep_alive);

}  // namespace turnloom
