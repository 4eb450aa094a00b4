#include <pybind11/gil_safe_call_once.h>

#include "bind.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

py::handle render_error() {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> storage;
  return storage
      .call_once_and_store_result([] { return py::module_::import("turnloom.errors").attr("RenderError"); })
      .get_stored();
}

py::handle python_class(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::type:
      return PyExc_TypeError;
    case ErrorKind::value:
      return PyExc_ValueError;
    case ErrorKind::key:
      return PyExc_KeyError;
    case ErrorKind::render:
      return render_error();
  }
  return PyExc_RuntimeError;
}

}  // namespace

py::object to_python_exception(const Error& error) { return python_class(error.kind())(error.what()); }

void bind_errors(py::module_&) {
  py::register_local_exception_translator([](std::exception_ptr raised) {
    try {
      if (raised) std::rethrow_exception(raised);
    } catch (const Error& error) {
      const py::object exception = to_python_exception(error);
      PyErr_SetObject(py::type::handle_of(exception).ptr(), exception.ptr());
    }
  });
}

}  // namespace turnloom
