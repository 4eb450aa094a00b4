#include "parsed_objects.hpp"

#include <pybind11/gil_safe_call_once.h>

#include <array>
#include <string_view>
#include <utility>

#include "json_objects.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

// The classes of `turnloom.parsing` and the values that their objects share.
struct Classes {
  py::object response;
  py::object call;
  py::object delta;
  std::array<py::object, 6> statuses;  ///< by CallStatus
  std::array<py::object, 6> kinds;     ///< by Delta::Kind

  static const Classes& get() {
    PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<Classes> storage;
    return storage.call_once_and_store_result(&load).get_stored();
  }

 private:
  static Classes load() {
    const py::module_ module = py::module_::import("turnloom.parsing");
    const py::object status = module.attr("ToolCallParseStatus");
    return {module.attr("ParsedResponse"),
            module.attr("ParsedToolCall"),
            module.attr("Delta"),
            {status.attr("OK"), status.attr("INVALID_JSON"), status.attr("UNCLOSED_BLOCK"),
             status.attr("MISSING_NAME"), status.attr("MALFORMED_STRUCTURE"), status.attr("UNKNOWN_TOOL")},
            {py::str("content"), py::str("reasoning"), py::str("reasoning_unfinished"), py::str("call_open"),
             py::str("arguments"), py::str("call_close")}};
  }
};

py::object optional_str(const std::optional<std::string>& text) {
  if (!text) return py::none();
  return to_str(*text);
}

py::str slice(const std::string& text, const TextSpan& span) {
  return to_str(std::string_view(text).substr(span.begin, span.end - span.begin));
}

// An object of a frozen dataclass with slots. Its own `__init__` takes several times as long.
class DataclassObject {
 public:
  explicit DataclassObject(const py::object& type)
      : object_(py::reinterpret_steal<py::object>(as_type(type)->tp_alloc(as_type(type), 0))) {
    if (!object_) throw py::error_already_set();
  }

  DataclassObject& set(const char* name, const py::object& value) {
    const py::str key = py::reinterpret_steal<py::str>(PyUnicode_InternFromString(name));
    if (PyObject_GenericSetAttr(object_.ptr(), key.ptr(), value.ptr()) != 0) throw py::error_already_set();
    return *this;
  }

  [[nodiscard]] py::object take() noexcept { return std::move(object_); }

 private:
  static PyTypeObject* as_type(const py::object& type) { return reinterpret_cast<PyTypeObject*>(type.ptr()); }

  py::object object_;
};

py::object call_object(const ParsedCall& call, const std::string& text, const Classes& classes) {
  py::object arguments = py::none();
  py::object arguments_text = py::none();
  py::list duplicates;
  if (call.arguments) {
    arguments = to_python(text, call.nodes, *call.arguments, duplicates);
    arguments_text = slice(text, call.nodes[*call.arguments].text);
  } else if (call.has_no_arguments) {
    arguments = py::dict();
  }
  return DataclassObject(classes.call)
      .set("raw", slice(text, call.raw))
      .set("name", optional_str(call.name))
      .set("arguments", arguments)
      .set("token_span", py::make_tuple(call.first_token, call.end_token))
      .set("status", classes.statuses[static_cast<std::size_t>(call.status)])
      .set("id", py::none())
      .set("arguments_text", arguments_text)
      .set("duplicate_keys", py::tuple(duplicates))
      .take();
}

// A named tuple: kind, text, call_index, name, status.
py::object delta_object(const Delta& delta, const Classes& classes) {
  auto* const type = reinterpret_cast<PyTypeObject*>(classes.delta.ptr());
  auto object = py::reinterpret_steal<py::object>(type->tp_alloc(type, 5));
  if (!object) throw py::error_already_set();
  const bool of_call = delta.kind >= Delta::Kind::call_open;
  py::object call_index = py::none();
  if (of_call) call_index = py::int_(delta.call);
  py::object status = py::none();
  if (delta.kind == Delta::Kind::call_close)
    status = classes.statuses[static_cast<std::size_t>(delta.status)];
  PyTuple_SET_ITEM(object.ptr(), 0,
                   py::object(classes.kinds[static_cast<std::size_t>(delta.kind)]).release().ptr());
  PyTuple_SET_ITEM(object.ptr(), 1, to_str(delta.text).release().ptr());
  PyTuple_SET_ITEM(object.ptr(), 2, call_index.release().ptr());
  PyTuple_SET_ITEM(object.ptr(), 3, optional_str(delta.name).release().ptr());
  PyTuple_SET_ITEM(object.ptr(), 4, status.release().ptr());
  return object;
}

}  // namespace

py::object to_python(const ParsedCompletion& completion) {
  const Classes& classes = Classes::get();
  py::list calls;
  for (const ParsedCall& call : completion.calls) calls.append(call_object(call, completion.text, classes));
  return DataclassObject(classes.response)
      .set("content", to_str(completion.content))
      .set("reasoning_content", optional_str(completion.reasoning))
      .set("tool_calls", calls)
      .set("reasoning_complete", py::bool_(completion.reasoning_complete))
      .take();
}

py::list to_python(const std::vector<Delta>& deltas) {
  const Classes& classes = Classes::get();
  py::list list(deltas.size());
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    PyList_SET_ITEM(list.ptr(), static_cast<py::ssize_t>(i),
                    delta_object(deltas[i], classes).release().ptr());
  }
  return list;
}

}  // namespace turnloom
