#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "python_text_encoder.hpp"
#include "read_value.hpp"
#include "turnloom/renderer.hpp"
#include "turnloom/tokenizer.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

constexpr std::size_t kManyBytes = 4096;

/// ids, begins, ends, counts: what a PythonTextEncoder's function returns; None for offsets it does not have
py::tuple encode_regions(const TextEncoder& encoder, const py::list& regions) {
  KeepAlive keep_alive;
  std::vector<std::string_view> views;
  views.reserve(regions.size());
  const Place place("regions");
  for (std::size_t i = 0; i < regions.size(); ++i) {
    views.push_back(read_string(py::object(regions[i]).ptr(), place.index(i), keep_alive));
  }
  EncodedRegions encoded;
  {
    const py::gil_scoped_release detached;
    encoder.encode(views, encoded);
  }
  const auto to_int64 = [](const auto& values) {
    return to_array<std::int64_t>(std::vector<std::int64_t>(values.begin(), values.end()));
  };
  py::object begins = py::none();
  py::object ends = py::none();
  if (encoder.has_offsets()) {
    begins = to_int64(encoded.begins);
    ends = to_int64(encoded.ends);
  }
  return py::make_tuple(to_array<TokenId>(std::vector<TokenId>(encoded.ids.begin(), encoded.ids.end())),
                        begins, ends, to_int64(encoded.counts));
}

py::array encode(const Tokenizer& tokenizer, const py::object& text, bool match_markers) {
  KeepAlive keep_alive;
  const std::string_view view = read_string(text.ptr(), Place("text"), keep_alive);
  std::vector<TokenId> ids;
  {
    // To detach and attach takes as long as some hundred bytes.
    const auto detached = view.size() > kManyBytes ? std::make_unique<py::gil_scoped_release>() : nullptr;
    ids = tokenizer.encode(view, match_markers);
  }
  return to_array<TokenId>(std::move(ids));
}

std::pair<py::array, py::array> encode_batch(const Tokenizer& tokenizer, const py::list& texts,
                                             bool match_markers, std::size_t threads) {
  KeepAlive keep_alive;
  std::vector<std::string_view> views;
  views.reserve(texts.size());
  const Place place("texts");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const py::object text = texts[i];
    views.push_back(read_string(text.ptr(), place.index(i), keep_alive));
  }
  std::vector<TokenId> ids;
  std::vector<std::int64_t> offsets;
  {
    const py::gil_scoped_release detached;
    ids = tokenizer.encode_batch(views, match_markers, threads, offsets);
  }
  return {to_array<TokenId>(std::move(ids)), to_array<std::int64_t>(std::move(offsets))};
}

}  // namespace

void bind_tokenizer(py::module_& module) {
  py::class_<AddedToken>(module, "AddedToken", "An entry of `added_tokens` in a tokenizer.json.")
      .def(py::init([](std::string content, TokenId id, bool marker, bool normalized, bool lstrip,
                       bool rstrip, bool single_word) {
             return AddedToken{std::move(content), id, marker, normalized, lstrip, rstrip, single_word};
           }),
           py::kw_only(), py::arg("content"), py::arg("id"), py::arg("marker"), py::arg("normalized") = false,
           py::arg("lstrip") = false, py::arg("rstrip") = false, py::arg("single_word") = false)
      .def_readonly("content", &AddedToken::content)
      .def_readonly("id", &AddedToken::id)
      .def_readonly("marker", &AddedToken::marker)
      .def_readonly("normalized", &AddedToken::normalized)
      .def_readonly("lstrip", &AddedToken::lstrip)
      .def_readonly("rstrip", &AddedToken::rstrip)
      .def_readonly("single_word", &AddedToken::single_word);
  py::class_<TextEncoder, std::shared_ptr<TextEncoder>>(module, "TextEncoder")
      .def("encode_regions", &encode_regions, py::arg("regions"));
  py::class_<PythonTextEncoder, TextEncoder, std::shared_ptr<PythonTextEncoder>>(module, "PythonTextEncoder")
      .def(py::init<py::function, bool>(), py::arg("encode_regions"), py::kw_only(),
           py::arg("has_offsets") = true);
  py::class_<Tokenizer, std::shared_ptr<Tokenizer>>(module, "Tokenizer")
      .def(py::init<std::vector<AddedToken>, std::shared_ptr<TextEncoder>>(), py::arg("added_tokens"),
           py::arg("encoder"))
      .def_property_readonly("added_tokens", &Tokenizer::added_tokens)
      .def("encode", &encode, py::arg("text"), py::arg("match_markers"))
      .def("encode_batch", &encode_batch, py::arg("texts"), py::kw_only(), py::arg("match_markers"),
           py::arg("threads"));
  module.def("declared_markers", [] {
    const auto markers = declared_markers();
    return std::vector<std::string_view>(markers.begin(), markers.end());
  });
}

}  // namespace turnloom
