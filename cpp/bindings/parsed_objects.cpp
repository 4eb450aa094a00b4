#include "parsed_objects.hpp"

#include <pybind11/gil_safe_call_once.h>

#include <array>
#include <string_view>
#include <utility>

#include "json_objects.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

// A dataclass with slots, and the names of its fields in order.
template <std::size_t n>
struct Dataclass {
  py::object type;
  std::array<py::object, n> fields;

  // An object with these values. The `__init__` of a frozen dataclass takes several times as long.
  [[nodiscard]] py::object make(const std::array<py::object, n>& values) const {
    auto* const python_type = reinterpret_cast<PyTypeObject*>(type.ptr());
    auto object = py::reinterpret_steal<py::object>(python_type->tp_alloc(python_type, 0));
    if (!object) throw py::error_already_set();
    for (std::size_t i = 0; i < n; ++i) {
      if (PyObject_GenericSetAttr(object.ptr(), fields[i].ptr(), values[i].ptr()) != 0) {
        throw py::error_already_set();
      }
    }
    return object;
  }
};

// The classes of `turnloom.parsing` and the values that their objects share.
struct Classes {
  Dataclass<4> response;
  Dataclass<8> call;
  py::object delta;
  std::array<py::object, 6> statuses;  ///< by CallStatus
  std::array<py::object, 6> kinds;     ///< by Delta::Kind

  static const Classes& get() {
    PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<Classes> storage;
    return storage.call_once_and_store_result(&load).get_stored();
  }

 private:
  template <typename... Texts>
  static std::array<py::object, sizeof...(Texts)> names(Texts... texts) {
    return {py::reinterpret_steal<py::object>(PyUnicode_InternFromString(texts))...};
  }

  static Classes load() {
    const py::module_ module = py::module_::import("turnloom.parsing");
    const py::object status = module.attr("ToolCallParseStatus");
    return {{module.attr("ParsedResponse"),
             names("content", "reasoning_content", "tool_calls", "reasoning_complete")},
            {module.attr("ParsedToolCall"), names("raw", "name", "arguments", "token_span", "status", "id",
                                                  "arguments_text", "duplicate_keys")},
            module.attr("Delta"),
            {status.attr("OK"), status.attr("INVALID_JSON"), status.attr("UNCLOSED_BLOCK"),
             status.attr("MISSING_NAME"), status.attr("MALFORMED_STRUCTURE"), status.attr("UNKNOWN_TOOL")},
            names("content", "reasoning", "reasoning_unfinished", "call_open", "arguments", "call_close")};
  }
};

py::object optional_str(const std::optional<std::string>& text) {
  if (!text) return py::none();
  return to_str(*text);
}

py::str slice(const std::string& text, const TextSpan& span) {
  return to_str(std::string_view(text).substr(span.begin, span.end - span.begin));
}

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
  return classes.call.make({slice(text, call.raw), optional_str(call.name), arguments,
                            py::make_tuple(call.first_token, call.end_token),
                            classes.statuses[static_cast<std::size_t>(call.status)], py::none(),
                            arguments_text, py::tuple(duplicates)});
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
  return classes.response.make({to_str(completion.content), optional_str(completion.reasoning), calls,
                                py::bool_(completion.reasoning_complete)});
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
