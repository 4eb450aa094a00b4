#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "bpe/nfc.hpp"
#include "bpe/pretokenizer.hpp"
#include "read_value.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

py::array split_text(const std::string& pattern, const py::object& text) {
  KeepAlive keep_alive;
  const std::string_view bytes = read_string(text.ptr(), Place("text"), keep_alive);
  const auto known = split_pattern_of(pattern);
  if (!known) throw Error(ErrorKind::value, "pattern", "no such pattern");
  std::vector<std::uint32_t> ends;
  split(*known, bytes, ends);
  return to_array<std::uint32_t>(std::move(ends));
}

py::tuple normalise_nfc(const py::object& text) {
  KeepAlive keep_alive;
  NormalisedText out;
  normalise(read_string(text.ptr(), Place("text"), keep_alive), out);
  std::vector<std::int64_t> sources;
  std::size_t chunk = 0;
  for (std::size_t i = 0; i < out.text.size(); ++i) {
    const auto [begin, end] = out.source_of(i, i + 1, chunk);
    sources.insert(sources.end(), {static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)});
  }
  const auto n = static_cast<py::ssize_t>(out.text.size());
  return py::make_tuple(py::str(out.text), to_array<std::int64_t>(std::move(sources), {n, 2}));
}

}  // namespace

void bind_pretokenizer(py::module_& module) {
  module.def("split_text", &split_text, py::arg("pattern"), py::arg("text"),
             "Return where each pre-token ends, in bytes.");
  module.def(
      "is_nfc",
      [](const py::object& text) {
        KeepAlive keep_alive;
        return is_nfc(read_string(text.ptr(), Place("text"), keep_alive));
      },
      py::arg("text"), "Return whether normalising would change nothing.");
  module.def("normalise_nfc", &normalise_nfc, py::arg("text"),
             "Return the text in NFC, and for each of its bytes the source as begin and end.");
}

}  // namespace turnloom
