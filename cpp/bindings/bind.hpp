// The parts of the Python module and what they share.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <utility>
#include <vector>

#include "turnloom/error.hpp"

namespace turnloom {

void bind_errors(pybind11::module_& module);
void bind_json(pybind11::module_& module);
void bind_bpe(pybind11::module_& module);
void bind_pretokenizer(pybind11::module_& module);
void bind_token_table(pybind11::module_& module);
void bind_tokenizer(pybind11::module_& module);
void bind_loss(pybind11::module_& module);
void bind_renderer(pybind11::module_& module);
void bind_packing(pybind11::module_& module);
void bind_parse(pybind11::module_& module);
void bind_bridge(pybind11::module_& module);
void bind_text_format(pybind11::module_& module);
void bind_hash(pybind11::module_& module);
void bind_scan(pybind11::module_& module);
void bind_tool_call_ids(pybind11::module_& module);

/// The Python exception of an Error: TypeError, ValueError, KeyError or turnloom.errors.RenderError.
[[nodiscard]] pybind11::object to_python_exception(const Error& error);

/// A read-only array that owns the vector's memory; no copy, but for a few elements, where one costs less.
/// `Element` is what Python sees: it may be bool where the vector holds bytes of 0 and 1.
template <typename Element, typename T>
[[nodiscard]] pybind11::array to_array(std::vector<T>&& values, std::vector<pybind11::ssize_t> shape) {
  static_assert(sizeof(Element) == sizeof(T));
  constexpr std::size_t kFewBytes = 1024;
  const auto set_read_only = [](const pybind11::array& array) {
    pybind11::detail::array_proxy(array.ptr())->flags &= ~pybind11::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  };
  if (values.size() * sizeof(T) <= kFewBytes) {
    const pybind11::array copy(pybind11::dtype::of<Element>(), std::move(shape), values.data());
    set_read_only(copy);
    return copy;
  }
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  const T* data = owner->data();
  const pybind11::capsule memory(owner.release(),
                                 [](void* vector) { delete static_cast<std::vector<T>*>(vector); });
  const pybind11::array array(pybind11::dtype::of<Element>(), std::move(shape), data, memory);
  set_read_only(array);
  return array;
}

template <typename Element, typename T>
[[nodiscard]] pybind11::array to_array(std::vector<T>&& values) {
  const auto n = static_cast<pybind11::ssize_t>(values.size());
  return to_array<Element>(std::move(values), {n});
}

}  // namespace turnloom
