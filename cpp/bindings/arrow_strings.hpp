// Arrow string arrays in and out, through the C data interface of Arrow (its structs are the ABI:
// https://arrow.apache.org/docs/format/CDataInterface.html). No Arrow library is needed.
//
// Everything here needs the interpreter attached.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "read_value.hpp"

namespace turnloom {

/// A string or large_string array that a caller passed, valid as long as this object.
class ArrowStrings {
 public:
  /// Throws Error (type) for an array of another type.
  ArrowStrings(PyObject* object, const Place& place);

  [[nodiscard]] bool is_large() const noexcept { return is_large_; }
  [[nodiscard]] std::size_t size() const noexcept { return views_.size(); }
  /// The texts; nulls are empty.
  [[nodiscard]] const std::vector<std::string_view>& views() const noexcept { return views_; }
  [[nodiscard]] std::size_t n_nulls() const noexcept { return n_nulls_; }
  /// Only of an array with nulls.
  [[nodiscard]] std::size_t first_null() const noexcept;
  /// A bit for each row, 1 where it is not null; as Arrow has it.
  [[nodiscard]] std::vector<std::uint8_t> validity() const;

 private:
  [[nodiscard]] bool is_null(std::size_t row) const noexcept;

  pybind11::object schema_capsule_;
  pybind11::object array_capsule_;
  bool is_large_ = false;
  const std::uint8_t* validity_ = nullptr;  ///< a bit each, from `offset_` on; null when there are no nulls
  std::size_t offset_ = 0;
  std::size_t n_nulls_ = 0;
  std::vector<std::string_view> views_;
};

/// A finished string array that any Arrow library can take over, any number of times, without a copy.
class ArrowStringArray {
 public:
  /// `buffers` keeps the memory that the pointers are of. `validity` may be null.
  ArrowStringArray(std::shared_ptr<const void> buffers, std::size_t size, std::size_t n_nulls, bool is_large,
                   const std::uint8_t* validity, const void* offsets, const char* text);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The capsules of `__arrow_c_array__`: schema and array.
  [[nodiscard]] pybind11::tuple capsules() const;

 private:
  std::shared_ptr<const void> buffers_;
  std::size_t size_;
  std::size_t n_nulls_;
  bool is_large_;
  const void* pointers_[3];
};

}  // namespace turnloom
