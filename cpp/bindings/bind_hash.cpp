#include <pybind11/stl.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "arrow_strings.hpp"
#include "bind.hpp"
#include "read_ids.hpp"
#include "read_value.hpp"
#include "turnloom/hash.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

/// The bytes of texts, bytes objects and token ids; views are valid as long as the reader.
class BytesReader {
 public:
  std::string_view read(PyObject* data, const Place& place) {
    if (PyUnicode_Check(data)) return read_string(data, place, keep_alive_);
    if (PyBytes_Check(data)) {
      keep_alive_.push_back(py::reinterpret_borrow<py::object>(data));
      return {PyBytes_AS_STRING(data), static_cast<std::size_t>(PyBytes_GET_SIZE(data))};
    }
    if (PyList_Check(data) || PyTuple_Check(data) || py::isinstance<py::array>(data)) {
      return id_bytes_.emplace_back(hashed_bytes(read_token_ids(data, place)));
    }
    throw Error(
        ErrorKind::type, place.text(),
        "expected str, bytes or token ids (list, tuple or 1-D integer array), got " + type_name(data));
  }

 private:
  KeepAlive keep_alive_;
  std::deque<std::string> id_bytes_;
};

std::uint64_t hash_one(const py::object& data, std::optional<std::uint64_t> round) {
  BytesReader reader;
  const std::string_view bytes = reader.read(data.ptr(), Place("data"));
  const py::gil_scoped_release detached;
  return fnv1a_64(bytes, fnv1a_64_round(round));
}

py::array hash_list(const py::list& rows, std::optional<std::uint64_t> round) {
  const Place place("data");
  BytesReader reader;
  std::vector<std::string_view> views;
  views.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const py::object row = rows[i];
    views.push_back(reader.read(row.ptr(), place.index(i)));
  }
  std::vector<std::uint64_t> hashes(views.size());
  {
    const py::gil_scoped_release detached;
    fnv1a_64_batch(views, fnv1a_64_round(round), hashes);
  }
  return to_array<std::uint64_t>(std::move(hashes));
}

py::array hash_arrow(const py::object& strings, std::size_t first_row, std::optional<std::uint64_t> round) {
  const Place place("data");
  const ArrowStrings rows(strings.ptr(), place);
  if (const auto null = rows.first_null()) {
    throw Error(ErrorKind::value, place.index(first_row + *null).text(), "null has no hash");
  }
  std::vector<std::uint64_t> hashes;
  {
    const py::gil_scoped_release detached;
    const std::uint64_t state = fnv1a_64_round(round);
    hashes = std::visit([&](const auto offsets) { return fnv1a_64_batch(rows.text(), offsets, state); },
                        rows.offsets());
  }
  return to_array<std::uint64_t>(std::move(hashes));
}

py::array hash_ragged(const py::array_t<TokenId, py::array::c_style>& ids,
                      const py::array_t<std::int64_t, py::array::c_style>& offsets,
                      std::optional<std::uint64_t> round) {
  const std::span<const TokenId> id_span(ids.data(), static_cast<std::size_t>(ids.size()));
  const std::span<const std::int64_t> offset_span(offsets.data(), static_cast<std::size_t>(offsets.size()));
  std::vector<std::uint64_t> hashes;
  {
    const py::gil_scoped_release detached;
    hashes = fnv1a_64_batch(id_span, offset_span, fnv1a_64_round(round));
  }
  return to_array<std::uint64_t>(std::move(hashes));
}

py::array prefix_hashes_of(const py::object& ids, std::size_t block_size) {
  const std::vector<TokenId> tokens = read_token_ids(ids.ptr(), Place("ids"));
  std::vector<std::uint64_t> hashes;
  {
    const py::gil_scoped_release detached;
    hashes = prefix_hashes(tokens, block_size);
  }
  return to_array<std::uint64_t>(std::move(hashes));
}

}  // namespace

void bind_hash(py::module_& module) {
  module.def("fnv1a_64", &hash_one, py::arg("data"), py::kw_only(), py::arg("round"));
  module.def("fnv1a_64_list", &hash_list, py::arg("data"), py::kw_only(), py::arg("round"));
  module.def("fnv1a_64_arrow", &hash_arrow, py::arg("data"), py::kw_only(), py::arg("first_row"),
             py::arg("round"));
  module.def("fnv1a_64_ragged", &hash_ragged, py::arg("ids").noconvert(), py::arg("offsets").noconvert(),
             py::kw_only(), py::arg("round"));
  module.def("prefix_hashes", &prefix_hashes_of, py::arg("ids"), py::arg("block_size"));
}

}  // namespace turnloom
