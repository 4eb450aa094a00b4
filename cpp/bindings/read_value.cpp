#include "read_value.hpp"

#include <pybind11/critical_section.h>

#include <cstdint>
#include <utility>

#include "turnloom/error.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

constexpr std::size_t kMaxLevels = 500;

std::string hex(Py_UCS4 code_point) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text;
  for (int shift = 12; shift >= 0; shift -= 4) text += kHex[code_point >> shift & 0xF];
  return text;
}

/// The UTF-8 text that the str object keeps, alive as long as the object.
std::string_view utf8_view(PyObject* text, const Place& place) {
  Py_ssize_t n_bytes = 0;
  if (const char* bytes = PyUnicode_AsUTF8AndSize(text, &n_bytes)) {
    return {bytes, static_cast<std::size_t>(n_bytes)};
  }
  if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw py::error_already_set();
  PyErr_Clear();
  Py_ssize_t at = 0;
  while (Py_UNICODE_IS_SURROGATE(PyUnicode_READ_CHAR(text, at)) == 0) ++at;
  throw Error(
      ErrorKind::value, place.text(),
      "lone surrogate U+" + hex(PyUnicode_READ_CHAR(text, at)) + " at character " + std::to_string(at));
}

/// Reads one tree. Python code can run in between (the `items` of a dict subclass), and so can other threads
/// in a free-threaded build: every object is owned while it is read.
class ValueReader {
 public:
  ValueReader(const Place& root, KeepAlive& keep_alive) : root_(root), keep_alive_(keep_alive) {}

  Value read(PyObject* object, const Place& place) {
    if (PyDict_Check(object)) return Value{read_dict(object, place)};
    if (PyList_Check(object)) return Value{read_list(object, place)};
    if (PyTuple_Check(object)) return Value{read_tuple(object, place)};
    if (is_scalar(object)) return read_scalar(object, place);
    throw Error(ErrorKind::type, place.text(),
                "Object of type " + type_name(object) + " is not JSON serializable");
  }

 private:
  /// Counts the containers around the value being read.
  class Level {
   public:
    explicit Level(ValueReader& reader) : reader_(reader) {
      if (reader_.n_levels_ == kMaxLevels) {
        throw Error(ErrorKind::value, reader_.root_.text(),
                    "nested deeper than " + std::to_string(kMaxLevels) + " levels");
      }
      ++reader_.n_levels_;
    }
    ~Level() { --reader_.n_levels_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    ValueReader& reader_;
  };

  static bool is_scalar(PyObject* object) {
    return PyUnicode_Check(object) || PyLong_Check(object) || PyFloat_Check(object) || object == Py_None;
  }

  Value read_scalar(PyObject* object, const Place& place) {
    if (PyUnicode_Check(object)) return Value{read_string(object, place, keep_alive_)};
    if (PyBool_Check(object)) return Value{object == Py_True};
    if (PyLong_Check(object)) return read_integer(object, place);
    if (PyFloat_Check(object)) return Value{PyFloat_AS_DOUBLE(object)};
    return Value{};
  }

  static Value read_integer(PyObject* object, const Place& place) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) return Value{static_cast<std::int64_t>(value)};
    try {
      // The repr of int itself: a subclass, such as an enum, may print something else.
      PyObject* digits = PyLong_Type.tp_repr(object);
      if (digits == nullptr) throw py::error_already_set();
      return Value{BigInteger{py::reinterpret_steal<py::str>(digits)}};
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_ValueError)) throw;
      throw Error(ErrorKind::value, place.text(), py::str(error.value()));
    }
  }

  Array read_list(PyObject* list, const Place& place) {
    const Level level(*this);
    const py::scoped_critical_section lock(list);
    Array items;
    items.reserve(static_cast<std::size_t>(PyList_GET_SIZE(list)));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
      const auto item = py::reinterpret_borrow<py::object>(PyList_GET_ITEM(list, i));
      items.push_back(read(item.ptr(), place.index(static_cast<std::size_t>(i))));
    }
    return items;
  }

  Array read_tuple(PyObject* tuple, const Place& place) {
    const Level level(*this);
    Array items;
    items.reserve(static_cast<std::size_t>(PyTuple_GET_SIZE(tuple)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
      items.push_back(read(PyTuple_GET_ITEM(tuple, i), place.index(static_cast<std::size_t>(i))));
    }
    return items;
  }

  Object read_dict(PyObject* dict, const Place& place) {
    const Level level(*this);
    if (!PyDict_CheckExact(dict)) return read_items(dict, place);
    const py::scoped_critical_section lock(dict);
    Object members;
    members.reserve(static_cast<std::size_t>(PyDict_GET_SIZE(dict)));
    Py_ssize_t at = 0;
    PyObject* borrowed_key = nullptr;
    PyObject* borrowed_value = nullptr;
    while (PyDict_Next(dict, &at, &borrowed_key, &borrowed_value) != 0) {
      const auto key = py::reinterpret_borrow<py::object>(borrowed_key);
      const auto value = py::reinterpret_borrow<py::object>(borrowed_value);
      members.push_back(read_member(key.ptr(), value.ptr(), place));
    }
    return members;
  }

  /// A dict subclass may have an order of its own, as OrderedDict does, so its `items` is asked.
  Object read_items(PyObject* dict, const Place& place) {
    PyObject* new_items = PyMapping_Items(dict);
    if (new_items == nullptr) throw py::error_already_set();
    const auto items = py::reinterpret_steal<py::list>(new_items);
    Object members;
    members.reserve(items.size());
    for (const py::handle item : items) {
      if (!PyTuple_Check(item.ptr()) || PyTuple_GET_SIZE(item.ptr()) != 2) {
        throw Error(ErrorKind::value, place.text(), "items must return 2-tuples");
      }
      members.push_back(read_member(PyTuple_GET_ITEM(item.ptr(), 0), PyTuple_GET_ITEM(item.ptr(), 1), place));
    }
    return members;
  }

  Member read_member(PyObject* key, PyObject* value, const Place& place) {
    if (!is_scalar(key)) {
      throw Error(ErrorKind::type, place.text(),
                  "keys must be str, int, float, bool or None, not " + type_name(key));
    }
    Value key_value = read_scalar(key, place);
    return {std::move(key_value), read(value, place.key(key))};
  }

  const Place& root_;
  KeepAlive& keep_alive_;
  std::size_t n_levels_ = 0;
};

}  // namespace

std::string Place::text() const {
  std::string parent = parent_ == nullptr ? std::string() : parent_->text();
  switch (kind_) {
    case Kind::field:
      return parent_ == nullptr ? std::string(name_) : parent + "." + std::string(name_);
    case Kind::index:
      return parent + "[" + std::to_string(index_) + "]";
    case Kind::key:
      break;
  }
  return parent + "[" + std::string(py::repr(key_)) + "]";
}

std::string type_name(PyObject* object) { return py::str(py::type::handle_of(object).attr("__name__")); }

std::string_view read_string(PyObject* object, const Place& place, KeepAlive& keep_alive) {
  if (!PyUnicode_Check(object)) {
    throw Error(ErrorKind::type, place.text(), "expected str, got " + type_name(object));
  }
  const std::string_view text = utf8_view(object, place);
  keep_alive.push_back(py::reinterpret_borrow<py::object>(object));
  return text;
}

Value read_value(PyObject* object, const Place& place, KeepAlive& keep_alive) {
  return ValueReader(place, keep_alive).read(object, place);
}

}  // namespace turnloom
