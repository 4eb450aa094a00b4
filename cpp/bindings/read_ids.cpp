#include "read_ids.hpp"

#include <pybind11/critical_section.h>
#include <pybind11/numpy.h>

#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "turnloom/error.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

constexpr TokenId kMaxToken = std::numeric_limits<TokenId>::max();

[[noreturn]] void raise_out_of_range(const Place& place, std::size_t position, const std::string& value) {
  throw Error(ErrorKind::value, place.index(position).text(),
              "expected a token id from 0 to " + std::to_string(kMaxToken) + ", got " + value);
}

/// Reads ints one by one. All types are checked before any value.
class IntReader {
 public:
  explicit IntReader(const Place& place) : place_(place) {}

  void read(PyObject* item) {
    if (!PyLong_Check(item) || PyBool_Check(item)) {
      throw Error(ErrorKind::type, place_.index(values_.size()).text(),
                  "expected int, got " + type_name(item));
    }
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(item, &overflow);
    if ((overflow != 0 || value < 0 || value > kMaxToken) && !out_of_range_) {
      out_of_range_ = values_.size();
      out_of_range_value_ = py::reinterpret_borrow<py::object>(item);
    }
    values_.push_back(static_cast<TokenId>(value));
  }

  std::vector<TokenId> finish() && {
    if (out_of_range_) raise_out_of_range(place_, *out_of_range_, py::str(out_of_range_value_));
    return std::move(values_);
  }

  void reserve(Py_ssize_t n) { values_.reserve(static_cast<std::size_t>(n)); }

 private:
  const Place& place_;
  std::vector<TokenId> values_;
  std::optional<std::size_t> out_of_range_;
  py::object out_of_range_value_;
};

std::vector<TokenId> read_list(PyObject* list, const Place& place) {
  IntReader reader(place);
  const py::scoped_critical_section lock(list);
  reader.reserve(PyList_GET_SIZE(list));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) reader.read(PyList_GET_ITEM(list, i));
  return std::move(reader).finish();
}

std::vector<TokenId> read_tuple(PyObject* tuple, const Place& place) {
  IntReader reader(place);
  reader.reserve(PyTuple_GET_SIZE(tuple));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) reader.read(PyTuple_GET_ITEM(tuple, i));
  return std::move(reader).finish();
}

/// The array itself or, if it is byte-swapped or not aligned, a copy of it as the core reads it.
py::array checked_array(PyObject* ids, const Place& place) {
  auto array = py::reinterpret_borrow<py::array>(ids);
  const py::dtype dtype = array.dtype();
  if (dtype.kind() != 'i' && dtype.kind() != 'u') {
    throw Error(ErrorKind::type, place.text(),
                "expected an integer array, got dtype " + std::string(py::str(dtype)));
  }
  if (array.ndim() != 1) {
    throw Error(ErrorKind::type, place.text(),
                "expected a 1-D array, got " + std::to_string(array.ndim()) + " dimensions");
  }
  if ((array.flags() & py::array::c_style) == 0) {
    throw Error(
        ErrorKind::type, place.text(),
        "expected a C-contiguous array, got one with strides (" + std::to_string(array.strides(0)) + ",)");
  }
  const bool is_native = dtype.byteorder() == '=' || dtype.byteorder() == '|';
  if (is_native && (array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0) return array;
  return array.attr("astype")(dtype.attr("newbyteorder")("="));
}

template <typename Id>
std::span<const Id> view(const py::array& array) {
  return {static_cast<const Id*>(array.data()), static_cast<std::size_t>(array.size())};
}

IdSpan span_of(const py::array& array) {
  const bool is_signed = array.dtype().kind() == 'i';
  switch (array.itemsize()) {
    case 1:
      return is_signed ? IdSpan(view<std::int8_t>(array)) : IdSpan(view<std::uint8_t>(array));
    case 2:
      return is_signed ? IdSpan(view<std::int16_t>(array)) : IdSpan(view<std::uint16_t>(array));
    case 4:
      return is_signed ? IdSpan(view<std::int32_t>(array)) : IdSpan(view<std::uint32_t>(array));
    default:
      return is_signed ? IdSpan(view<std::int64_t>(array)) : IdSpan(view<std::uint64_t>(array));
  }
}

}  // namespace

IdArray::IdArray(PyObject* ids, const Place& place) {
  if (py::isinstance<py::array>(ids)) {
    const py::array array = checked_array(ids, place);
    owner_ = array;
    span_ = span_of(array);
    return;
  }
  if (PyList_Check(ids)) {
    values_ = read_list(ids, place);
  } else if (PyTuple_Check(ids)) {
    values_ = read_tuple(ids, place);
  } else {
    throw Error(ErrorKind::type, place.text(),
                "expected list, tuple or 1-D integer array, got " + type_name(ids));
  }
  span_ = std::span<const std::int32_t>(values_);
}

std::vector<TokenId> read_token_ids(PyObject* ids, const Place& place) {
  const IdArray array(ids, place);
  return std::visit(
      [&](const auto values) {
        std::vector<TokenId> tokens(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (!std::in_range<TokenId>(values[i]) || values[i] < 0) {
            raise_out_of_range(place, i, std::to_string(values[i]));
          }
          tokens[i] = static_cast<TokenId>(values[i]);
        }
        return tokens;
      },
      array.span());
}

}  // namespace turnloom
