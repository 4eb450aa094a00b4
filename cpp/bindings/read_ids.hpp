// Python token ids -> spans: lists, tuples and integer arrays of any width.
//
// Everything here needs the interpreter attached.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "read_value.hpp"
#include "turnloom/types.hpp"

namespace turnloom {

using IdSpan =
    std::variant<std::span<const std::int8_t>, std::span<const std::int16_t>, std::span<const std::int32_t>,
                 std::span<const std::int64_t>, std::span<const std::uint8_t>, std::span<const std::uint16_t>,
                 std::span<const std::uint32_t>, std::span<const std::uint64_t>>;

/// Ids that a caller passed: the memory of an array as it is, or a copy of a list or tuple. Neither copied
/// nor moved, as the span points into it.
class IdArray {
 public:
  /// Throws Error: type for anything else, or an element that is no int (a bool is none); value for an
  /// element that is no token id. The elements of an array are not looked at.
  IdArray(PyObject* ids, const Place& place);
  IdArray(const IdArray&) = delete;
  IdArray& operator=(const IdArray&) = delete;

  [[nodiscard]] const IdSpan& span() const noexcept { return span_; }

 private:
  pybind11::object owner_;
  std::vector<TokenId> values_;
  IdSpan span_;
};

/// The same as token ids. Elements of an array are checked, too.
[[nodiscard]] std::vector<TokenId> read_token_ids(PyObject* ids, const Place& place);

}  // namespace turnloom
