#include "python_text_encoder.hpp"

#include <pybind11/numpy.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "turnloom/error.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

using Offset = decltype(EncodedRegions::begins)::value_type;

template <typename T>
std::span<const T> view(const py::object& object, std::size_t n) {
  if (!py::isinstance<py::array_t<T, py::array::c_style>>(object)) {
    throw Error(ErrorKind::type, "encode_regions", "returned something else than its four arrays");
  }
  const auto array = py::reinterpret_borrow<py::array_t<T, py::array::c_style>>(object);
  if (array.ndim() != 1 || static_cast<std::size_t>(array.size()) != n) {
    throw Error(ErrorKind::value, "encode_regions", "returned arrays whose lengths do not fit together");
  }
  return {array.data(), n};
}

/// A byte offset in a region, as EncodedRegions holds it.
Offset narrow(std::int64_t offset) {
  if (offset < 0 || !std::in_range<Offset>(offset)) {
    throw Error(ErrorKind::value, "encode_regions", "returned an offset out of range");
  }
  return static_cast<Offset>(offset);
}

}  // namespace

PythonTextEncoder::PythonTextEncoder(py::function encode_regions, bool has_offsets)
    : encode_regions_(std::move(encode_regions)), has_offsets_(has_offsets) {}

void PythonTextEncoder::encode(std::span<const std::string_view> regions, EncodedRegions& out) const {
  const py::gil_scoped_acquire attached;
  py::list texts(regions.size());
  for (std::size_t i = 0; i < regions.size(); ++i) texts[i] = py::str(regions[i].data(), regions[i].size());
  const py::tuple arrays = encode_regions_(texts);
  if (arrays.size() != 4)
    throw Error(ErrorKind::value, "encode_regions", "returned a tuple of another length");
  const std::size_t n_tokens = py::len(arrays[0]);
  const auto ids = view<std::int32_t>(arrays[0], n_tokens);
  const auto counts = view<std::int64_t>(arrays[3], regions.size());
  out.ids.assign(ids.begin(), ids.end());
  out.begins.clear();
  out.ends.clear();
  if (has_offsets_) {
    for (const std::int64_t begin : view<std::int64_t>(arrays[1], n_tokens))
      out.begins.push_back(narrow(begin));
    for (const std::int64_t end : view<std::int64_t>(arrays[2], n_tokens)) out.ends.push_back(narrow(end));
  }
  out.counts.clear();
  std::int64_t n_counted = 0;
  for (const std::int64_t count : counts) {
    if (count < 0) throw Error(ErrorKind::value, "encode_regions", "returned a negative count");
    out.counts.push_back(static_cast<std::size_t>(count));
    n_counted += count;
  }
  if (static_cast<std::size_t>(n_counted) != n_tokens) {
    throw Error(ErrorKind::value, "encode_regions", "returned counts that do not add up");
  }
}

}  // namespace turnloom
