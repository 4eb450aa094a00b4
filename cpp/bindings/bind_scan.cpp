#include <pybind11/stl.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "read_ids.hpp"
#include "turnloom/scan.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

TokenSet read_token_set(const py::object& token_ids) {
  const Place place("token_ids");
  if (!PyAnySet_Check(token_ids.ptr())) return TokenSet(read_token_ids(token_ids.ptr(), place));
  const py::list items(token_ids);
  return TokenSet(read_token_ids(items.ptr(), place));
}

/// Calls `search(span)` with the lock released.
template <typename Search>
auto search_ids(const py::object& ids, Search search) {
  const IdArray array(ids.ptr(), Place("ids"));
  const py::gil_scoped_release detached;
  return std::visit(search, array.span());
}

py::tuple to_arrays(TokenHits&& hits) {
  return py::make_tuple(to_array<std::int64_t>(std::move(hits.positions)),
                        to_array<TokenId>(std::move(hits.tokens)));
}

/// positions, tokens
py::tuple scan_array(const py::object& ids, const py::object& token_ids) {
  const TokenSet tokens = read_token_set(token_ids);
  return to_arrays(search_ids(ids, [&](const auto span) { return scan(span, tokens); }));
}

/// positions, tokens, rows
py::tuple scan_ragged(const py::object& ids, const py::array_t<std::int64_t, py::array::c_style>& offsets,
                      const py::object& token_ids) {
  const TokenSet tokens = read_token_set(token_ids);
  const std::span<const std::int64_t> offset_span(offsets.data(), static_cast<std::size_t>(offsets.size()));
  RaggedTokenHits found = search_ids(ids, [&](const auto span) { return scan(span, offset_span, tokens); });
  const py::tuple arrays = to_arrays(std::move(found.hits));
  return py::make_tuple(arrays[0], arrays[1], to_array<std::int64_t>(std::move(found.rows)));
}

std::size_t count_in_array(const py::object& ids, const py::object& token_ids) {
  const TokenSet tokens = read_token_set(token_ids);
  return search_ids(ids, [&](const auto span) { return count_tokens(span, tokens); });
}

std::optional<std::size_t> find_first_in_array(const py::object& ids, const py::object& token_ids) {
  const TokenSet tokens = read_token_set(token_ids);
  return search_ids(ids, [&](const auto span) { return find_first(span, tokens); });
}

std::optional<std::size_t> find_last_in_array(const py::object& ids, const py::object& token_ids) {
  const TokenSet tokens = read_token_set(token_ids);
  return search_ids(ids, [&](const auto span) { return find_last(span, tokens); });
}

}  // namespace

void bind_scan(py::module_& module) {
  module.def("scan", &scan_array, py::arg("ids"), py::arg("token_ids"));
  module.def("scan_ragged", &scan_ragged, py::arg("ids"), py::arg("offsets").noconvert(),
             py::arg("token_ids"));
  module.def("count_tokens", &count_in_array, py::arg("ids"), py::arg("token_ids"));
  module.def("find_first", &find_first_in_array, py::arg("ids"), py::arg("token_ids"));
  module.def("find_last", &find_last_in_array, py::arg("ids"), py::arg("token_ids"));
}

}  // namespace turnloom
