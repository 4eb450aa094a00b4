#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "arrow_strings.hpp"
#include "bind.hpp"
#include "read_conversation.hpp"
#include "read_value.hpp"
#include "turnloom/tool_call_ids.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

std::unique_ptr<ToolCallIdFormat> make_format(std::string_view kind, std::size_t n, std::uint64_t hash_mask) {
  using Kind = ToolCallIdFormat::Kind;
  static constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"any", Kind::any},         {"max_length", Kind::max_length},     {"url_safe", Kind::url_safe},
      {"bedrock", Kind::bedrock}, {"alphanumeric", Kind::alphanumeric}, {"kimi", Kind::kimi}};
  for (const auto& [name, value] : kKinds) {
    if (name == kind) return std::make_unique<ToolCallIdFormat>(value, n, hash_mask);
  }
  throw Error(ErrorKind::value, "kind", "unknown value '" + std::string(kind) + "'");
}

py::str to_str(std::string_view text) { return {text.data(), text.size()}; }

bool accepts(const ToolCallIdFormat& format, const py::object& id) {
  KeepAlive keep_alive;
  return format.accepts(read_string(id.ptr(), Place("id"), keep_alive));
}

py::str conform(const ToolCallIdFormat& format, const py::object& id) {
  KeepAlive keep_alive;
  return to_str(format.conform(read_string(id.ptr(), Place("id"), keep_alive)));
}

/// An id that is accepted is the caller's own object.
py::list conform_list(const ToolCallIdFormat& format, const py::list& ids) {
  KeepAlive items;
  items.reserve(ids.size());
  std::vector<std::string_view> views;
  views.reserve(ids.size());
  const Place place("ids");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const py::object id = ids[i];
    views.push_back(read_string(id.ptr(), place.index(i), items));
  }
  ReplacedIds replaced;
  {
    const py::gil_scoped_release detached;
    replaced = format.conform_batch(views);
  }
  const std::string_view text = replaced.text;
  for (std::size_t i = 0; i < replaced.rows.size(); ++i) {
    const std::size_t begin = replaced.offsets[i];
    items[replaced.rows[i]] = to_str(text.substr(begin, replaced.offsets[i + 1] - begin));
  }
  py::list conformed(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) conformed[i] = std::move(items[i]);
  return conformed;
}

template <typename Offset>
ArrowStringArray conform_arrow_as(const ToolCallIdFormat& format, const ArrowStrings& ids) {
  struct Buffers {
    FlatTexts<Offset> texts;
    std::vector<std::uint8_t> validity;
  };
  const auto buffers = std::make_shared<Buffers>();
  std::size_t n_nulls = 0;
  {
    const py::gil_scoped_release detached;
    const std::vector<std::string_view> views = ids.views();
    buffers->texts = with_replaced_ids<Offset>(views, format.conform_batch(views));
    n_nulls = ids.n_nulls();
    if (n_nulls > 0) buffers->validity = ids.validity();
  }
  return {buffers,
          ids.size(),
          n_nulls,
          std::is_same_v<Offset, std::int64_t>,
          n_nulls > 0 ? buffers->validity.data() : nullptr,
          buffers->texts.offsets.data(),
          buffers->texts.text.data()};
}

ArrowStringArray conform_arrow(const ToolCallIdFormat& format, const py::object& array) {
  const ArrowStrings ids(array.ptr(), Place("ids"));
  const bool is_large = std::holds_alternative<std::span<const std::int64_t>>(ids.offsets());
  return is_large ? conform_arrow_as<std::int64_t>(format, ids) : conform_arrow_as<std::int32_t>(format, ids);
}

/// ids, originals, and for each message the numbers of its calls' ids and of its result's
py::tuple conform_conversation(const ToolCallIdFormat& format, const py::object& messages) {
  KeepAlive keep_alive;
  const Conversation conversation = read_conversation(messages.ptr(), Py_None, false, keep_alive);
  ConformedConversation conformed;
  {
    const py::gil_scoped_release detached;
    conformed = conform_messages(format, conversation.messages);
  }
  py::list message_ids;
  for (const ConformedMessage& message : conformed.messages) {
    message_ids.append(py::make_tuple(py::cast(message.calls), py::cast(message.result)));
  }
  return py::make_tuple(py::cast(conformed.ids), py::cast(conformed.originals), message_ids);
}

}  // namespace

void bind_tool_call_ids(py::module_& module) {
  py::class_<ArrowStringArray>(module, "ArrowStringArray")
      .def("__len__", &ArrowStringArray::size)
      .def(
          "__arrow_c_array__",
          [](const ArrowStringArray& array, const py::object&) { return array.capsules(); },
          py::arg("requested_schema") = py::none());
  py::class_<ToolCallIdFormat>(module, "ToolCallIdFormat")
      .def(py::init(&make_format), py::arg("kind"), py::arg("n"), py::arg("hash_mask"))
      .def("accepts", &accepts, py::arg("id"))
      .def("conform", &conform, py::arg("id"))
      .def("conform_list", &conform_list, py::arg("ids"))
      .def("conform_arrow", &conform_arrow, py::arg("ids"))
      .def("conform_messages", &conform_conversation, py::arg("messages"));
}

}  // namespace turnloom
