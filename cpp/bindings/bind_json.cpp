#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "read_value.hpp"
#include "turnloom/json.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

std::string json_text(const py::object& value, std::optional<int> indent,
                      const std::optional<std::string>& item_separator,
                      const std::optional<std::string>& key_separator) {
  KeepAlive keep_alive;
  const Value tree = read_value(value.ptr(), Place("value"), keep_alive);
  JsonStyle style;
  if (indent) {
    style.indent = *indent;
    style.item_separator = ",";
  }
  if (item_separator) style.item_separator = *item_separator;
  if (key_separator) style.key_separator = *key_separator;
  std::string text;
  const py::gil_scoped_release detached;
  write_json(tree, style, text);
  return text;
}

std::string python_repr(const py::object& value) {
  KeepAlive keep_alive;
  const Value tree = read_value(value.ptr(), Place("value"), keep_alive);
  std::string text;
  const py::gil_scoped_release detached;
  write_python_repr(tree, text);
  return text;
}

}  // namespace

void bind_json(py::module_& module) {
  module.def("json_text", &json_text, py::arg("value"), py::kw_only(), py::arg("indent") = py::none(),
             py::arg("item_separator") = py::none(), py::arg("key_separator") = py::none(),
             "Write a value as `json.dumps(value, ensure_ascii=False)` does.");
  module.def("python_repr", &python_repr, py::arg("value"), "Write a value as `repr` does.");
}

}  // namespace turnloom
