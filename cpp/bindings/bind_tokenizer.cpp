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

std::shared_ptr<Tokenizer> make_tokenizer(std::vector<AddedToken> added_tokens, py::function encode_regions) {
  return std::make_shared<Tokenizer>(std::move(added_tokens),
                                     std::make_shared<PythonTextEncoder>(std::move(encode_regions)));
}

py::array encode(const Tokenizer& tokenizer, const py::object& text, bool match_markers) {
  KeepAlive keep_alive;
  const std::string_view view = read_string(text.ptr(), Place("text"), keep_alive);
  std::vector<TokenId> ids;
  {
    const py::gil_scoped_release detached;
    ids = tokenizer.encode(view, match_markers);
  }
  return to_array<TokenId>(std::move(ids));
}

std::pair<py::array, py::array> encode_batch(const Tokenizer& tokenizer, const py::list& texts,
                                             bool match_markers) {
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
    ids = tokenizer.encode_batch(views, match_markers, offsets);
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
  py::class_<Tokenizer, std::shared_ptr<Tokenizer>>(module, "Tokenizer")
      .def(py::init(&make_tokenizer), py::arg("added_tokens"), py::arg("encode_regions"))
      .def_property_readonly("added_tokens", &Tokenizer::added_tokens)
      .def("encode", &encode, py::arg("text"), py::kw_only(), py::arg("match_markers"))
      .def("encode_batch", &encode_batch, py::arg("texts"), py::kw_only(), py::arg("match_markers"));
  module.def("declared_markers", [] {
    const auto markers = declared_markers();
    return std::vector<std::string_view>(markers.begin(), markers.end());
  });
}

}  // namespace turnloom
