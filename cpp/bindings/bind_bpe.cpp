#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bind.hpp"
#include "read_vocab.hpp"
#include "turnloom/bpe.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

/// A merge as `"a b"` or `["a", "b"]`.
std::pair<std::string_view, std::string_view> read_merge(const py::handle& merge, const Place& place,
                                                         KeepAlive& keep_alive) {
  if (PyUnicode_Check(merge.ptr())) {
    const std::string_view both = read_string(merge.ptr(), place, keep_alive);
    const std::size_t space = both.find(' ');
    if (space == std::string_view::npos || both.find(' ', space + 1) != std::string_view::npos) {
      throw Error(ErrorKind::value, place.text(), "expected two tokens and a space between them");
    }
    return {both.substr(0, space), both.substr(space + 1)};
  }
  if (!py::isinstance<py::list>(merge) || py::len(merge) != 2) {
    throw Error(ErrorKind::value, place.text(), "expected a str or a list of two");
  }
  const auto pair = py::reinterpret_borrow<py::list>(merge);
  return {read_string(py::object(pair[0]).ptr(), place, keep_alive),
          read_string(py::object(pair[1]).ptr(), place, keep_alive)};
}

BpeModel::Merges read_merges(const py::list& merges, KeepAlive& keep_alive) {
  BpeModel::Merges pairs;
  pairs.reserve(merges.size());
  const Place place("merges");
  for (std::size_t i = 0; i < merges.size(); ++i) {
    pairs.push_back(read_merge(py::object(merges[i]), place.index(i), keep_alive));
  }
  return pairs;
}

BpeModel read_model(const py::dict& vocab, const std::optional<py::list>& merges, bool ignore_merges,
                    KeepAlive& keep_alive) {
  BpeModel model;
  model.tokens = read_vocab(vocab, keep_alive);
  if (merges) model.merges = read_merges(*merges, keep_alive);
  model.ignore_merges = ignore_merges;
  return model;
}

std::shared_ptr<TextEncoder> byte_level_encoder(const py::dict& vocab, const std::optional<py::list>& merges,
                                                bool ignore_merges, const std::string& split, bool nfc) {
  KeepAlive keep_alive;
  BpeModel model = read_model(vocab, merges, ignore_merges, keep_alive);
  model.split = split;
  model.nfc = nfc;
  const py::gil_scoped_release detached;
  return make_byte_level_encoder(model);
}

std::shared_ptr<TextEncoder> character_encoder(const py::dict& vocab, const py::list& merges,
                                               bool ignore_merges) {
  KeepAlive keep_alive;
  const BpeModel model = read_model(vocab, merges, ignore_merges, keep_alive);
  const py::gil_scoped_release detached;
  return make_character_encoder(model);
}

}  // namespace

void bind_bpe(py::module_& module) {
  module.def("byte_level_encoder", &byte_level_encoder, py::arg("vocab"), py::arg("merges"), py::kw_only(),
             py::arg("ignore_merges"), py::arg("split"), py::arg("nfc"));
  module.def("character_encoder", &character_encoder, py::arg("vocab"), py::arg("merges"), py::kw_only(),
             py::arg("ignore_merges"));
}

}  // namespace turnloom
