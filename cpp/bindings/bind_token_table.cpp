#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "read_ids.hpp"
#include "read_vocab.hpp"
#include "turnloom/prompt.hpp"
#include "turnloom/token_table.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

std::shared_ptr<TokenTable> token_table(const py::dict& vocab,
                                        const std::vector<std::tuple<std::string, TokenId, bool>>& added,
                                        bool byte_level) {
  KeepAlive keep_alive;
  const auto model = read_vocab(vocab, keep_alive);
  std::vector<TokenTable::AddedToken> added_tokens;
  for (const auto& [content, id, special] : added) added_tokens.push_back({content, id, special});
  const py::gil_scoped_release detached;
  return std::make_shared<TokenTable>(model, added_tokens,
                                      byte_level ? TokenSpelling::byte_level : TokenSpelling::byte_fallback);
}

std::optional<TokenId> token_to_id(const TokenTable& tokens, const py::str& token) {
  Py_ssize_t n_bytes = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(token.ptr(), &n_bytes);
  if (utf8 == nullptr) {  // no token has a lone surrogate
    PyErr_Clear();
    return std::nullopt;
  }
  const TokenId id = tokens.find({utf8, static_cast<std::size_t>(n_bytes)});
  return id == kNoToken ? std::nullopt : std::optional(id);
}

std::optional<std::string_view> id_to_token(const TokenTable& tokens, const py::int_& id) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(id.ptr(), &overflow);
  if (overflow != 0 || !std::in_range<TokenId>(value)) return std::nullopt;
  const std::string_view spelling = tokens.spelling(static_cast<TokenId>(value));
  return spelling.empty() ? std::nullopt : std::optional(spelling);
}

py::bytes decode_bytes(const TokenTable& tokens, const py::object& ids) {
  const std::vector<TokenId> checked = read_token_ids(ids.ptr(), Place("ids"));
  std::string bytes;
  {
    const py::gil_scoped_release detached;
    bytes = tokens.decode_bytes(checked);
  }
  return {bytes.data(), bytes.size()};
}

py::str decode(const TokenTable& tokens, const py::object& ids, bool skip_special_tokens) {
  const std::vector<TokenId> checked = read_token_ids(ids.ptr(), Place("ids"));
  std::string text;
  {
    const py::gil_scoped_release detached;
    text = tokens.decode(checked, skip_special_tokens);
  }
  return {text.data(), text.size()};
}

py::list decode_batch(const TokenTable& tokens, const py::list& batch, bool skip_special_tokens) {
  std::vector<std::vector<TokenId>> rows;
  rows.reserve(batch.size());
  const Place place("batch");
  for (std::size_t i = 0; i < batch.size(); ++i) {
    rows.push_back(read_token_ids(py::object(batch[i]).ptr(), place.index(i)));
  }
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  {
    const py::gil_scoped_release detached;
    for (const auto& row : rows) texts.push_back(tokens.decode(row, skip_special_tokens));
  }
  py::list result(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) result[i] = py::str(texts[i].data(), texts[i].size());
  return result;
}

py::str feed(StreamDecoder& decoder, const py::object& ids) {
  const std::string text = decoder.feed(read_token_ids(ids.ptr(), Place("ids")));
  return {text.data(), text.size()};
}

py::str finish(StreamDecoder& decoder) {
  const std::string text = decoder.finish();
  return {text.data(), text.size()};
}

std::unique_ptr<StreamDecoder> stream_decoder(std::shared_ptr<TokenTable> tokens, bool skip_special_tokens) {
  return std::make_unique<StreamDecoder>(std::move(tokens), skip_special_tokens);
}

}  // namespace

void bind_token_table(py::module_& module) {
  py::class_<StreamDecoder>(module, "StreamDecoder")
      .def("feed", &feed, py::arg("ids"))
      .def("finish", &finish);
  py::class_<TokenTable, std::shared_ptr<TokenTable>>(module, "TokenTable")
      .def(py::init(&token_table), py::arg("vocab"), py::arg("added"), py::kw_only(), py::arg("byte_level"))
      .def("__len__", &TokenTable::size)
      .def("token_to_id", &token_to_id, py::arg("token"))
      .def("id_to_token", &id_to_token, py::arg("id"))
      .def("decode", &decode, py::arg("ids"), py::kw_only(), py::arg("skip_special_tokens"))
      .def("decode_bytes", &decode_bytes, py::arg("ids"))
      .def("decode_batch", &decode_batch, py::arg("batch"), py::kw_only(), py::arg("skip_special_tokens"))
      .def("stream_decoder", &stream_decoder, py::kw_only(), py::arg("skip_special_tokens"));
}

}  // namespace turnloom
