#include "read_vocab.hpp"

#include <cstdint>

#include "turnloom/error.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

TokenId read_id(PyObject* object, const Place& place) {
  const long id = PyLong_CheckExact(object) ? PyLong_AsLong(object) : -1;
  if (id < 0 || id > INT32_MAX) {
    PyErr_Clear();
    throw Error(ErrorKind::value, place.text(), "no token id");
  }
  return static_cast<TokenId>(id);
}

}  // namespace

std::vector<std::pair<std::string_view, TokenId>> read_vocab(const py::dict& vocab, KeepAlive& keep_alive) {
  std::vector<std::pair<std::string_view, TokenId>> tokens;
  tokens.reserve(vocab.size());
  const Place place("vocab");
  for (const auto& [token, id] : vocab) {
    tokens.emplace_back(read_string(token.ptr(), place, keep_alive),
                        read_id(id.ptr(), place.key(token.ptr())));
  }
  return tokens;
}

}  // namespace turnloom
