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

/// The offsets of an array's rows. Those of an array without rows need not be there.
template <typename Offset>
std::span<const Offset> offsets_of(const ArrowArray& array) {
  static constexpr Offset kNoRows[] = {0};
  if (array.length == 0) return kNoRows;
  return {static_cast<const Offset*>(array.buffers[1]) + array.offset,
          static_cast<std::size_t>(array.length) + 1};
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
  size_ = static_cast<std::size_t>(array.length);
  text_ = static_cast<const char*>(array.buffers[2]);
  if (format == "U") {
    offsets_ = offsets_of<std::int64_t>(array);
  } else {
    offsets_ = offsets_of<std::int32_t>(array);
  }
  // The interface does not say how long the text is, so only their order can be checked.
  std::visit(
      [&](const auto offsets) {
        for (std::size_t row = 0; row < size_; ++row) {
          if (offsets[row] >= 0 && offsets[row] <= offsets[row + 1]) continue;
          throw Error(ErrorKind::value, place.index(row).text(),
                      "the offsets of the Arrow array do not ascend");
        }
      },
      offsets_);
  if (array.null_count != 0) validity_ = static_cast<const std::uint8_t*>(array.buffers[0]);
  first_bit_ = static_cast<std::size_t>(array.offset);
}

std::vector<std::string_view> ArrowStrings::views() const {
  std::vector<std::string_view> views(size_);
  std::visit(
      [&](const auto offsets) {
        for (std::size_t row = 0; row < size_; ++row) {
          if (is_null(row)) continue;
          views[row] = {text_ + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row])};
        }
      },
      offsets_);
  return views;
}

bool ArrowStrings::is_null(std::size_t row) const noexcept {
  return validity_ != nullptr && !bit(validity_, first_bit_ + row);
}

std::optional<std::size_t> ArrowStrings::first_null() const noexcept {
  if (validity_ == nullptr) return std::nullopt;
  for (std::size_t row = 0; row < size_; ++row) {
    if (is_null(row)) return row;
  }
  return std::nullopt;
}

std::size_t ArrowStrings::n_nulls() const noexcept {
  std::size_t n = 0;
  for (std::size_t row = 0; validity_ != nullptr && row < size_; ++row) n += is_null(row) ? 1 : 0;
  return n;
}

std::vector<std::uint8_t> ArrowStrings::validity() const {
  std::vector<std::uint8_t> bits((size_ + 7) / 8);
  for (std::size_t row = 0; row < size_; ++row) {
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
