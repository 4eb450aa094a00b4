#include "arrow_strings.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "turnloom/error.hpp"

extern "C" {

// The names and members are Arrow's.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
}

namespace turnloom {
namespace {

namespace py = pybind11;

constexpr const char* kSchemaCapsule = "arrow_schema";
constexpr const char* kArrayCapsule = "arrow_array";
constexpr std::int64_t kNullable = 2;

bool bit(const std::uint8_t* bits, std::size_t index) noexcept {
  return (bits[index / 8] >> index % 8 & 1) != 0;
}

template <typename Struct>
const Struct& from_capsule(const py::object& capsule, const char* name) {
  const void* pointer = PyCapsule_GetPointer(capsule.ptr(), name);
  if (pointer == nullptr) throw py::error_already_set();
  return *static_cast<const Struct*>(pointer);
}

template <typename Offset>
void append_views(const ArrowArray& array, std::vector<std::string_view>& views) {
  const auto* offsets = static_cast<const Offset*>(array.buffers[1]) + array.offset;
  const auto* text = static_cast<const char*>(array.buffers[2]);
  for (std::size_t i = 0; i < views.size(); ++i) {
    // The buffer of an array without a character may be null.
    if (offsets[i] != offsets[i + 1])
      views[i] = {text + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
}

/// A capsule whose struct is released unless somebody has taken it over.
template <typename Struct>
py::object to_capsule(std::unique_ptr<Struct> value, const char* name) {
  PyObject* capsule = PyCapsule_New(value.get(), name, [](PyObject* object) {
    auto* owned = static_cast<Struct*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (owned->release != nullptr) owned->release(owned);
    delete owned;
  });
  if (capsule == nullptr) throw py::error_already_set();
  static_cast<void>(value.release());
  return py::reinterpret_steal<py::object>(capsule);
}

/// What an exported array holds on to.
struct Exported {
  std::shared_ptr<const void> memory;
  std::array<const void*, 3> buffers;
};

}  // namespace

ArrowStrings::ArrowStrings(PyObject* object, const Place& place) {
  const py::tuple capsules = py::handle(object).attr("__arrow_c_array__")();
  schema_capsule_ = capsules[0];
  array_capsule_ = capsules[1];
  const auto& schema = from_capsule<ArrowSchema>(schema_capsule_, kSchemaCapsule);
  const auto& array = from_capsule<ArrowArray>(array_capsule_, kArrayCapsule);
  const std::string_view format = schema.format;
  if ((format != "u" && format != "U") || schema.dictionary != nullptr) {
    throw Error(ErrorKind::type, place.text(),
                "expected an Arrow array of type string or large_string, got " + type_name(object) +
                    " of Arrow format '" + std::string(format) + "'");
  }
  is_large_ = format == "U";
  offset_ = static_cast<std::size_t>(array.offset);
  views_.resize(static_cast<std::size_t>(array.length));
  if (views_.empty()) return;
  if (is_large_) {
    append_views<std::int64_t>(array, views_);
  } else {
    append_views<std::int32_t>(array, views_);
  }
  if (array.null_count == 0 || array.buffers[0] == nullptr) return;
  validity_ = static_cast<const std::uint8_t*>(array.buffers[0]);
  for (std::size_t row = 0; row < views_.size(); ++row) {
    if (bit(validity_, offset_ + row)) continue;
    views_[row] = {};
    ++n_nulls_;
  }
}

bool ArrowStrings::is_null(std::size_t row) const noexcept {
  return validity_ != nullptr && !bit(validity_, offset_ + row);
}

std::size_t ArrowStrings::first_null() const noexcept {
  std::size_t row = 0;
  while (!is_null(row)) ++row;
  return row;
}

std::vector<std::uint8_t> ArrowStrings::validity() const {
  std::vector<std::uint8_t> bits((views_.size() + 7) / 8);
  for (std::size_t row = 0; row < views_.size(); ++row) {
    if (!is_null(row)) bits[row / 8] = static_cast<std::uint8_t>(bits[row / 8] | 1U << row % 8);
  }
  return bits;
}

ArrowStringArray::ArrowStringArray(std::shared_ptr<const void> buffers, std::size_t size, std::size_t n_nulls,
                                   bool is_large, const std::uint8_t* validity, const void* offsets,
                                   const char* text)
    : buffers_(std::move(buffers)),
      size_(size),
      n_nulls_(n_nulls),
      is_large_(is_large),
      pointers_{validity, offsets, text} {}

py::tuple ArrowStringArray::capsules() const {
  auto schema = std::make_unique<ArrowSchema>();
  schema->format = is_large_ ? "U" : "u";
  schema->name = "";
  schema->flags = kNullable;
  schema->release = [](ArrowSchema* self) { self->release = nullptr; };

  auto exported = std::make_unique<Exported>();
  exported->memory = buffers_;
  std::copy(std::begin(pointers_), std::end(pointers_), exported->buffers.begin());
  auto array = std::make_unique<ArrowArray>();
  array->length = static_cast<std::int64_t>(size_);
  array->null_count = static_cast<std::int64_t>(n_nulls_);
  array->n_buffers = 3;
  array->buffers = exported->buffers.data();
  array->release = [](ArrowArray* self) {
    delete static_cast<Exported*>(self->private_data);
    self->release = nullptr;
  };
  array->private_data = exported.release();
  return py::make_tuple(to_capsule(std::move(schema), kSchemaCapsule),
                        to_capsule(std::move(array), kArrayCapsule));
}

}  // namespace turnloom
