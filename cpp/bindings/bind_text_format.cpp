#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "bind.hpp"
#include "read_conversation.hpp"
#include "turnloom/text_format.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

py::str apply(const py::object& messages, const std::string& format,
              const std::optional<bool>& add_generation_prompt) {
  KeepAlive keep_alive;
  const Conversation conversation = read_conversation(messages.ptr(), Py_None, false, keep_alive);
  std::string text;
  {
    const py::gil_scoped_release detached;
    text = apply_text_format(format, conversation, add_generation_prompt);
  }
  return {text.data(), text.size()};
}

}  // namespace

void bind_text_format(py::module_& module) {
  module.def("apply_text_format", &apply, py::arg("messages"), py::arg("format"),
             py::arg("add_generation_prompt"));
}

}  // namespace turnloom
