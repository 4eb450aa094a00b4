#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "turnloom/packing.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

template <typename T>
using Column = py::array_t<T, py::array::c_style>;

template <typename T>
std::span<const T> view(const Column<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

/// begins, offsets, dropped rows
py::tuple cut_rows_of(const Column<std::int64_t>& offsets, std::int64_t max_length, const std::string& side) {
  const CutSide cut = side == "right" ? CutSide::right : side == "left" ? CutSide::left : CutSide::drop;
  RowParts parts = cut_rows(view(offsets), max_length, cut);
  return py::make_tuple(to_array<std::int64_t>(std::move(parts.begins)),
                        to_array<std::int64_t>(std::move(parts.offsets)),
                        to_array<std::int64_t>(std::move(parts.dropped)));
}

/// `Element` is what Python sees, `T` the same as bytes.
template <typename Element, typename T = Element>
py::array take(const py::array& column, const RowParts& parts) {
  std::vector<py::ssize_t> shape(column.shape(), column.shape() + column.ndim());
  const std::size_t width = column.ndim() == 1 ? 1 : static_cast<std::size_t>(shape[1]);
  const std::span values(static_cast<const T*>(column.data()), static_cast<std::size_t>(column.size()));
  std::vector<T> taken;
  {
    const py::gil_scoped_release detached;
    taken = take_rows(values, width, parts);
  }
  shape[0] = parts.offsets.back();
  return to_array<Element>(std::move(taken), std::move(shape));
}

py::array take_rows_of(const py::array& column, const Column<std::int64_t>& begins,
                       const Column<std::int64_t>& offsets) {
  const RowParts parts{
      {begins.data(), begins.data() + begins.size()}, {offsets.data(), offsets.data() + offsets.size()}, {}};
  if (py::isinstance<Column<std::int32_t>>(column)) return take<std::int32_t>(column, parts);
  if (py::isinstance<Column<std::uint8_t>>(column)) return take<std::uint8_t>(column, parts);
  if (py::isinstance<Column<bool>>(column)) return take<bool, std::uint8_t>(column, parts);
  if (py::isinstance<Column<std::int64_t>>(column)) return take<std::int64_t>(column, parts);
  throw Error(ErrorKind::type, "column", "no column has dtype " + std::string(py::str(column.dtype())));
}

/// One bin a line; no line where the column is not there.
template <typename Element, typename T>
py::array to_bins(std::vector<T>&& column, std::int64_t bin_length) {
  const auto n_bins = static_cast<py::ssize_t>(column.size()) / bin_length;
  return to_array<Element>(std::move(column), {n_bins, bin_length});
}

/// token_ids, message_indices, loss_mask, position_ids, segment_ids, bins, begins
py::tuple pack(const Column<TokenId>& token_ids, const Column<std::int32_t>& message_indices,
               const Column<bool>& loss_mask, const Column<std::int64_t>& offsets, std::int64_t bin_length,
               TokenId pad) {
  const PackingInput batch{.token_ids = view(token_ids),
                           .message_indices = view(message_indices),
                           .loss_mask = {reinterpret_cast<const std::uint8_t*>(loss_mask.data()),
                                         static_cast<std::size_t>(loss_mask.size())},
                           .offsets = view(offsets)};
  Packing packing;
  PackedColumns packed;
  {
    const py::gil_scoped_release detached;
    packing = pack_rows(batch.offsets, bin_length);
    packed = pack_columns(batch, packing, bin_length, pad);
  }
  return py::make_tuple(to_bins<TokenId>(std::move(packed.token_ids), bin_length),
                        to_bins<std::int32_t>(std::move(packed.message_indices), bin_length),
                        to_bins<bool>(std::move(packed.loss_mask), bin_length),
                        to_bins<std::int32_t>(std::move(packed.position_ids), bin_length),
                        to_bins<std::int32_t>(std::move(packed.segment_ids), bin_length),
                        to_array<std::int64_t>(std::move(packing.bins)),
                        to_array<std::int64_t>(std::move(packing.begins)));
}

}  // namespace

void bind_packing(py::module_& module) {
  module.def("cut_rows", &cut_rows_of, py::arg("offsets").noconvert(), py::arg("max_length"),
             py::arg("side"));
  module.def("take_rows", &take_rows_of, py::arg("column").noconvert(), py::arg("begins").noconvert(),
             py::arg("offsets").noconvert());
  module.def("pack", &pack, py::arg("token_ids").noconvert(), py::arg("message_indices").noconvert(),
             py::arg("loss_mask").noconvert(), py::arg("offsets").noconvert(), py::arg("bin_length"),
             py::arg("pad"));
}

}  // namespace turnloom
