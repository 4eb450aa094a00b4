#include "read_conversation.hpp"

#include <pybind11/critical_section.h>
#include <pybind11/gil_safe_call_once.h>

#include <optional>
#include <string>
#include <utility>

#include "turnloom/error.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

// Interned once: a look-up then compares pointers.
struct Keys {
  py::str role{intern("role")}, content{intern("content")}, tool_calls{intern("tool_calls")},
      name{intern("name")}, tool_call_id{intern("tool_call_id")}, function{intern("function")},
      arguments{intern("arguments")}, id{intern("id")}, type{intern("type")}, text{intern("text")},
      reasoning_content{intern("reasoning_content")}, thinking{intern("thinking")},
      reasoning{intern("reasoning")}, train{intern("train")};

 private:
  static py::str intern(const char* text) {
    PyObject* key = PyUnicode_InternFromString(text);
    if (key == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::str>(key);
  }
};

const Keys& keys() {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<Keys> storage;
  return storage.call_once_and_store_result([] { return Keys(); }).get_stored();
}

/// The value of a key, or a null object where the dict has no such key.
py::object find(PyObject* dict, const py::str& key) {
  PyObject* value = nullptr;
#if PY_VERSION_HEX >= 0x030D0000
  if (PyDict_GetItemRef(dict, key.ptr(), &value) < 0) throw py::error_already_set();
#else
  value = PyDict_GetItemWithError(dict, key.ptr());
  if (value == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
  Py_XINCREF(value);
#endif
  return py::reinterpret_steal<py::object>(value);
}

/// The same, with None taken for no value, as transformers does with the keys of a message.
py::object find_value(PyObject* dict, const py::str& key) {
  py::object value = find(dict, key);
  return value.is_none() ? py::object() : value;
}

[[noreturn]] void raise_type(const Place& place, std::string_view expected, PyObject* got) {
  throw Error(ErrorKind::type, place.text(), "expected " + std::string(expected) + ", got " + type_name(got));
}

void require_dict(PyObject* object, const Place& place) {
  if (!PyDict_Check(object)) raise_type(place, "a dict", object);
}

/// Calls `read(item, place)` for each item of a list or tuple.
template <typename Read>
void for_each_item(PyObject* sequence, const Place& place, std::string_view expected, Read read) {
  if (PyList_Check(sequence)) {
    const py::scoped_critical_section lock(sequence);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(sequence); ++i) {
      const auto item = py::reinterpret_borrow<py::object>(PyList_GET_ITEM(sequence, i));
      read(item.ptr(), place.index(static_cast<std::size_t>(i)));
    }
  } else if (PyTuple_Check(sequence)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sequence); ++i) {
      read(PyTuple_GET_ITEM(sequence, i), place.index(static_cast<std::size_t>(i)));
    }
  } else {
    raise_type(place, expected, sequence);
  }
}

class MessageReader {
 public:
  MessageReader(PyObject* dict, const Place& place, bool keep_content_list, Conversation& conversation,
                KeepAlive& keep_alive)
      : dict_(dict),
        place_(place),
        keep_content_list_(keep_content_list),
        conversation_(conversation),
        keep_alive_(keep_alive) {}

  Message read() {
    require_dict(dict_, place_);
    const py::object role = find_value(dict_, keys().role);
    if (!role) throw Error(ErrorKind::render, place_.field("role").text(), "missing");
    message_.role = read_string(role.ptr(), place_.field("role"), keep_alive_);
    read_content();
    read_reasoning();
    read_tool_calls();
    message_.name = read_optional_string(dict_, keys().name, place_.field("name"));
    message_.tool_call_id = read_optional_string(dict_, keys().tool_call_id, place_.field("tool_call_id"));
    read_train();
    return std::move(message_);
  }

 private:
  std::optional<std::string_view> read_optional_string(PyObject* dict, const py::str& key,
                                                       const Place& place) {
    const py::object value = find_value(dict, key);
    if (!value) return std::nullopt;
    return read_string(value.ptr(), place, keep_alive_);
  }

  void read_content() {
    const py::object content = find_value(dict_, keys().content);
    if (!content) return;
    const Place place = place_.field("content");
    message_.has_content = true;
    if (PyUnicode_Check(content.ptr())) {
      message_.text = read_string(content.ptr(), place, keep_alive_);
      return;
    }
    std::size_t n_texts = 0;
    std::size_t index = 0;
    for_each_item(content.ptr(), place, "str, list or None", [&](PyObject* part, const Place& part_place) {
      if (const auto text = read_part(part, part_place, index++)) {
        ++n_texts;
        // One text part, the usual case, needs no joining.
        if (n_texts == 1) {
          message_.text = *text;
        } else {
          if (n_texts == 2) joined_ = &conversation_.storage.emplace_back(message_.text);
          joined_->append(*text);
        }
      }
    });
    if (joined_ != nullptr) message_.text = *joined_;
    message_.content_is_list = true;
    if (keep_content_list_) message_.content_list = read_value(content.ptr(), place, keep_alive_);
  }

  /// The text of a text part; notes the first part that is none.
  std::optional<std::string_view> read_part(PyObject* part, const Place& place, std::size_t index) {
    if (PyUnicode_Check(part)) return read_string(part, place, keep_alive_);
    if (!PyDict_Check(part)) raise_type(place, "str or dict", part);
    const py::object type = find_value(part, keys().type);
    const py::object text = find_value(part, keys().text);
    const std::string_view type_text =
        type ? read_string(type.ptr(), place.field("type"), keep_alive_) : "text";
    if (type_text == "text") {
      if (!text) throw Error(ErrorKind::type, place.field("text").text(), "expected str, got nothing");
      return read_string(text.ptr(), place.field("text"), keep_alive_);
    }
    if (!message_.foreign_part) message_.foreign_part = ForeignPart{index, type_text};
    return std::nullopt;
  }

  void read_reasoning() {
    const std::pair<const py::str&, const char*> candidates[] = {
        {keys().reasoning_content, "reasoning_content"},
        {keys().thinking, "thinking"},
        {keys().reasoning, "reasoning"}};
    for (const auto& [key, name] : candidates) {
      message_.reasoning = read_optional_string(dict_, key, place_.field(name));
      if (!message_.reasoning) continue;
      message_.reasoning_key = name;
      return;
    }
  }

  void read_tool_calls() {
    const py::object calls = find_value(dict_, keys().tool_calls);
    if (!calls) return;
    message_.has_tool_calls = true;
    const Place place = place_.field("tool_calls");
    for_each_item(calls.ptr(), place, "list or None", [&](PyObject* call, const Place& call_place) {
      require_dict(call, call_place);
      message_.tool_calls.push_back(read_tool_call(call, call_place));
    });
  }

  /// Data sets have it as a bool or as 0 and 1.
  void read_train() {
    const py::object train = find_value(dict_, keys().train);
    if (!train) return;
    const Place place = place_.field("train");
    if (!PyLong_Check(train.ptr())) raise_type(place, "bool, 0 or 1", train.ptr());
    int overflow = 0;
    const long value = PyLong_AsLongAndOverflow(train.ptr(), &overflow);
    if (overflow != 0 || (value != 0 && value != 1)) {
      throw Error(ErrorKind::value, place.text(), "expected bool, 0 or 1, got another int");
    }
    message_.train = value == 1;
  }

  ToolCall read_tool_call(PyObject* dict, const Place& place) {
    ToolCall call;
    const py::object function = find_value(dict, keys().function);
    if (function) {
      const Place function_place = place.field("function");
      require_dict(function.ptr(), function_place);
      read_function(function.ptr(), function_place, call);
    } else {
      read_function(dict, place, call);
    }
    call.id = read_optional_string(dict, keys().id, place.field("id"));
    return call;
  }

  void read_function(PyObject* dict, const Place& place, ToolCall& call) {
    const py::object name = find_value(dict, keys().name);
    if (!name) throw Error(ErrorKind::render, place.field("name").text(), "missing");
    call.name = read_string(name.ptr(), place.field("name"), keep_alive_);
    const py::object arguments = find(dict, keys().arguments);
    call.arguments =
        arguments ? read_value(arguments.ptr(), place.field("arguments"), keep_alive_) : Value{Object{}};
  }

  PyObject* dict_;
  const Place& place_;
  const bool keep_content_list_;
  Conversation& conversation_;
  KeepAlive& keep_alive_;
  Message message_;
  std::string* joined_ = nullptr;
};

}  // namespace

Conversation read_conversation(PyObject* messages, PyObject* tools, bool keep_content_lists,
                               KeepAlive& keep_alive, std::string_view argument) {
  Conversation conversation;
  const Place place(argument);
  for_each_item(messages, place, "a list of messages", [&](PyObject* message, const Place& message_place) {
    conversation.messages.push_back(
        MessageReader(message, message_place, keep_content_lists, conversation, keep_alive).read());
  });
  if (tools == Py_None) return conversation;
  conversation.has_tools = true;
  const Place tools_place("tools");
  for_each_item(tools, tools_place, "a list of tools or None", [&](PyObject* tool, const Place& tool_place) {
    require_dict(tool, tool_place);
    conversation.tools.push_back(read_value(tool, tool_place, keep_alive));
  });
  return conversation;
}

}  // namespace turnloom
