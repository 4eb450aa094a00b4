#include <pybind11/critical_section.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bind.hpp"
#include "read_conversation.hpp"
#include "read_ids.hpp"
#include "rendered_arrays.hpp"
#include "turnloom/bridge.hpp"
#include "turnloom/history.hpp"
#include "turnloom/parse.hpp"
#include "turnloom/renderer.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

template <typename T>
using Array = py::array_t<T, py::array::c_style>;
using Floats = Array<float>;
using KnownTools = std::vector<std::string>;

constexpr std::array<std::string_view, 7> kReasons = {
    "empty_prompt",          "nothing_new",      "new_assistant_message", "unknown_role",
    "stop_inside_reasoning", "retention_policy", "text_after_close",
};

/// The reason and the detail of a refusal.
py::tuple to_tuple(const BridgeRefusal& refusal) {
  return py::make_tuple(kReasons[static_cast<std::size_t>(refusal.reason)], refusal.detail);
}

/// Messages that go on a rollout, and what the bridge makes of them.
class BridgeCall {
 public:
  BridgeCall(const Renderer& renderer, const py::object& new_messages)
      : renderer_(renderer),
        messages_(read_conversation(new_messages.ptr(), Py_None, renderer.prints_content_lists(), keep_alive_,
                                    "new_messages")) {}

  BridgeOutcome run(const CompletionParser& parser, std::span<const TokenId> prompt_ids,
                    std::span<const TokenId> completion_ids, bool allow_trim) const {
    const py::gil_scoped_release detached;
    return renderer_.bridge(parser, prompt_ids, completion_ids, messages_, allow_trim);
  }

  /// arrays, markers, roles, tool names
  [[nodiscard]] py::tuple describe(TokenColumns&& columns, const std::vector<MarkerHit>& markers) const {
    py::list marker_tuples;
    for (const MarkerHit& marker : markers) marker_tuples.append(turnloom::to_tuple(marker));
    py::list roles;
    for (const Message& message : messages_.messages) {
      roles.append(py::str(message.role.data(), message.role.size()));
    }
    return py::make_tuple(to_arrays(std::move(columns), false), marker_tuples, roles,
                          py::cast(tool_names(messages_)));
  }

 private:
  const Renderer& renderer_;
  KeepAlive keep_alive_;
  Conversation messages_;
};

/// The reason and the detail of a refusal, or None; and arrays, markers, roles and tool names, or None.
py::tuple bridge(const Renderer& renderer, const CompletionParser& parser, const py::object& prompt_ids,
                 const py::object& completion_ids, const py::object& new_messages, bool allow_trim) {
  const std::vector<TokenId> prompt = read_token_ids(prompt_ids.ptr(), Place("previous_prompt_ids"));
  const std::vector<TokenId> completion =
      read_token_ids(completion_ids.ptr(), Place("previous_completion_ids"));
  const BridgeCall call(renderer, new_messages);
  BridgeOutcome outcome = call.run(parser, prompt, completion, allow_trim);
  if (const auto* refusal = std::get_if<BridgeRefusal>(&outcome)) {
    return py::make_tuple(to_tuple(*refusal), py::none());
  }
  const auto& extension = std::get<BridgeExtension>(outcome);
  TokenColumns columns =
      with_history(prompt, std::span(completion).first(extension.n_kept), extension.columns);
  return py::make_tuple(py::none(), call.describe(std::move(columns), extension.markers));
}

template <typename Element, typename T>
py::array to_view(const GrowingArray<T>& column) {
  static_assert(sizeof(Element) == sizeof(T));
  auto snapshot = column.snapshot();
  auto owner = std::make_unique<std::shared_ptr<const void>>(std::move(snapshot.owner));
  const py::capsule memory(owner.get(),
                           [](void* held) { delete static_cast<std::shared_ptr<const void>*>(held); });
  owner.release();
  const auto n = static_cast<py::ssize_t>(snapshot.values.size());
  const py::array array(py::dtype::of<Element>(), {n}, snapshot.values.data(), memory);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

/// The history of a rollout with what it takes to go on: prompt, completion, prompt, completion.
class BoundHistory {
 public:
  BoundHistory(py::object renderer, py::object parser)
      : renderer_object_(std::move(renderer)),
        parser_object_(std::move(parser)),
        renderer_(renderer_object_.cast<const Renderer&>()),
        parser_(parser_object_.cast<const CompletionParser&>()) {}

  /// Renders a whole conversation and the generation prompt.
  void append_prompt(const py::object& messages, const py::object& tools) {
    KeepAlive keep_alive;
    const Conversation conversation =
        read_conversation(messages.ptr(), tools.ptr(), renderer_.prints_content_lists(), keep_alive);
    RenderedColumns rendered;
    {
      const py::gil_scoped_release detached;
      rendered = renderer_.render(conversation, {.add_generation_prompt = true});
    }
    append_rendered(rendered.columns, 0);
  }

  void append_completion(const py::object& token_ids, const Floats& logprobs, const KnownTools& known_tools,
                         std::int32_t message) {
    const std::vector<TokenId> ids = read_token_ids(token_ids.ptr(), Place("token_ids"));
    require_size("logprobs", logprobs.size(), ids.size());
    const auto prompt = last_prompt();
    std::vector<std::uint8_t> fields;
    {
      const py::gil_scoped_release detached;
      fields = parser_.fields(ids, prompt.values, known_tools);
    }
    // Another thread may have been faster while this one was detached.
    if (history_.size() != completion_begin_) {
      throw Error(ErrorKind::value, "token_ids", "the turn has a completion already");
    }
    history_.append_sampled(ids, fields, {logprobs.data(), static_cast<std::size_t>(logprobs.size())},
                            message);
  }

  /// Goes on with messages, or gives the reason and the detail of a refusal.
  py::object bridge(const py::object& new_messages, std::int32_t first_message) {
    const BridgeCall call(renderer_, new_messages);
    const auto all = history_.token_ids.snapshot();
    BridgeOutcome outcome =
        call.run(parser_, last_prompt().values, all.values.subspan(completion_begin_), false);
    if (const auto* refusal = std::get_if<BridgeRefusal>(&outcome)) return to_tuple(*refusal);
    append_rendered(std::get<BridgeExtension>(outcome).columns, first_message);
    return py::none();
  }

  /// token_ids, message_indices, fields, sampled_mask, is_content, loss_mask, logprobs: views that stay.
  [[nodiscard]] py::tuple columns() const {
    const bool all = history_.is_attributed;
    return py::make_tuple(to_view<std::int32_t>(history_.token_ids),
                          to_view<std::int32_t>(history_.message_indices),
                          to_view<std::uint8_t>(all ? history_.fields : GrowingArray<std::uint8_t>()),
                          to_view<bool>(all ? history_.sampled_mask : GrowingArray<std::uint8_t>()),
                          to_view<bool>(all ? history_.is_content : GrowingArray<std::uint8_t>()),
                          to_view<bool>(history_.loss_mask), to_view<float>(history_.logprobs));
  }

  /// Takes the columns of another history.
  void restore(const py::tuple& columns, std::size_t prompt_begin, std::size_t completion_begin) {
    const auto ids = columns[0].cast<Array<TokenId>>();
    const auto n = static_cast<std::size_t>(ids.size());
    if (prompt_begin > completion_begin || completion_begin > n) {
      throw Error(ErrorKind::value, "completion_begin", "not a place in the columns");
    }
    TokenHistory restored;
    restored.is_attributed = n == 0 || columns[2].cast<Array<std::uint8_t>>().size() > 0;
    take(restored.token_ids, ids, n);
    take(restored.message_indices, columns[1].cast<Array<std::int32_t>>(), n);
    if (restored.is_attributed) {
      take(restored.fields, columns[2].cast<Array<std::uint8_t>>(), n);
      take(restored.sampled_mask, columns[3].cast<Array<bool>>(), n);
      take(restored.is_content, columns[4].cast<Array<bool>>(), n);
    } else {
      for (auto* const column : {&restored.fields, &restored.sampled_mask, &restored.is_content}) {
        column->append(n, 0);
      }
    }
    take(restored.loss_mask, columns[5].cast<Array<bool>>(), n);
    take(restored.logprobs, columns[6].cast<Array<float>>(), n);
    history_ = std::move(restored);
    prompt_begin_ = prompt_begin;
    completion_begin_ = completion_begin;
  }

  [[nodiscard]] py::array token_ids() const { return to_view<std::int32_t>(history_.token_ids); }
  [[nodiscard]] std::size_t prompt_begin() const noexcept { return prompt_begin_; }
  [[nodiscard]] std::size_t completion_begin() const noexcept { return completion_begin_; }

 private:
  static void require_size(std::string_view argument, py::ssize_t size, std::size_t n) {
    if (static_cast<std::size_t>(size) == n) return;
    throw Error(ErrorKind::value, std::string(argument),
                std::to_string(size) + " entries for " + std::to_string(n) + " ids");
  }

  template <typename T, typename Element>
  static void take(GrowingArray<T>& column, const Array<Element>& values, std::size_t n) {
    require_size("columns", values.size(), n);
    std::copy_n(values.data(), n, column.grow(n).begin());
  }

  void append_rendered(const TokenColumns& columns, std::int32_t first_message) {
    const std::size_t begin = history_.size();
    history_.append_rendered(columns, first_message);
    prompt_begin_ = begin;
    completion_begin_ = history_.size();
  }

  /// What stands between the last completion and the next one. It tells all that there is to know of its
  /// turn.
  [[nodiscard]] GrowingArray<TokenId>::Snapshot last_prompt() const {
    auto snapshot = history_.token_ids.snapshot();
    snapshot.values = snapshot.values.subspan(prompt_begin_, completion_begin_ - prompt_begin_);
    return snapshot;
  }

  py::object renderer_object_;
  py::object parser_object_;
  const Renderer& renderer_;
  const CompletionParser& parser_;
  TokenHistory history_;
  std::size_t prompt_begin_ = 0;
  std::size_t completion_begin_ = 0;
};

template <typename Result, typename... Arguments>
auto one_at_a_time(Result (BoundHistory::*method)(Arguments...)) {
  return [method](const py::object& self, const Arguments&... arguments) {
    const py::scoped_critical_section lock(self);
    return (self.cast<BoundHistory&>().*method)(arguments...);
  };
}

}  // namespace

void bind_bridge(py::module_& module) {
  module.def("bridge", &bridge, py::arg("renderer"), py::arg("parser"), py::arg("previous_prompt_ids"),
             py::arg("previous_completion_ids"), py::arg("new_messages"), py::arg("allow_trim"));
  py::class_<BoundHistory>(module, "TokenHistory")
      .def(py::init<py::object, py::object>(), py::arg("renderer"), py::arg("parser"))
      .def("append_prompt", one_at_a_time(&BoundHistory::append_prompt), py::arg("messages"),
           py::arg("tools"))
      .def("append_completion", one_at_a_time(&BoundHistory::append_completion), py::arg("token_ids"),
           py::arg("logprobs"), py::arg("known_tools"), py::arg("message"))
      .def("bridge", one_at_a_time(&BoundHistory::bridge), py::arg("new_messages"), py::arg("first_message"))
      .def("columns", &BoundHistory::columns)
      .def("token_ids", &BoundHistory::token_ids)
      .def("restore", one_at_a_time(&BoundHistory::restore), py::arg("columns"), py::arg("prompt_begin"),
           py::arg("completion_begin"))
      .def_property_readonly("prompt_begin", &BoundHistory::prompt_begin)
      .def_property_readonly("completion_begin", &BoundHistory::completion_begin)
      .def("__copy__", [](const BoundHistory& history) { return history; });
}

}  // namespace turnloom
