// Arrow string arrays in and out, through the C data interface of Arrow (its structs are the ABI:
// https://arrow.apache.org/docs/format/CDataInterface.html). No Arrow library is needed.
//
// Everything here needs the interpreter attached.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "read_value.hpp"

namespace turnloom {

/// A string or large_string array that a caller passed, valid as long as this object.
class ArrowStrings {
 public:
  using Offsets = std::variant<std::span<const std::int32_t>, std::span<const std::int64_t>>;

  /// Throws Error (type) for an array of another type.
  ArrowStrings(PyObject* object, const Place& place);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Row r is `text[offsets[r], offsets[r + 1])`; 64-bit offsets are those of a large_string array.
  [[nodiscard]] const char* text() const noexcept { return text_; }
  [[nodiscard]] const Offsets& offsets() const noexcept { return offsets_; }
  /// The rows; nulls are empty.
  [[nodiscard]] std::vector<std::string_view> views() const;
  /// The row of the first null.
  [[nodiscard]] std::optional<std::size_t> first_null() const noexcept;
  [[nodiscard]] std::size_t n_nulls() const noexcept;
  /// A bit for each row, 1 where it is not null; as Arrow has it.
  [[nodiscard]] std::vector<std::uint8_t> validity() const;

 private:
  [[nodiscard]] bool is_null(std::size_t row) const noexcept;

  pybind11::object schema_capsule_;
  pybind11::object array_capsule_;
  std::size_t size_ = 0;
  const char* text_ = nullptr;
  Offsets offsets_;
  const std::uint8_t* validity_ =
      nullptr;  ///< a bit each, from `first_bit_` on; null when there are no nulls
  std::size_t first_bit_ = 0;
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
