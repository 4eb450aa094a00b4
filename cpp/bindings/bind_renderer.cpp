#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "read_conversation.hpp"
#include "rendered_arrays.hpp"
#include "turnloom/renderer.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

constexpr std::array<std::pair<std::string_view, ThinkingRetention>, 2> kRetentions = {
    {{"tool_cycle", ThinkingRetention::tool_cycle}, {"all", ThinkingRetention::all}}};

template <typename Enum, std::size_t n>
Enum parse_enum(std::string_view argument, const std::string& name,
                const std::array<std::pair<std::string_view, Enum>, n>& names) {
  const auto entry = std::ranges::find(names, name, &std::pair<std::string_view, Enum>::first);
  if (entry == names.end())
    throw Error(ErrorKind::value, std::string(argument), "unknown value '" + name + "'");
  return entry->second;
}

std::unique_ptr<Renderer> make_renderer(std::shared_ptr<Tokenizer> tokenizer, std::string family,
                                        FamilyOptions options, const std::string& marker_policy,
                                        const std::string& on_loss,
                                        const std::optional<std::string>& thinking_retention) {
  static constexpr std::array<std::pair<std::string_view, MarkerPolicy>, 4> kPolicies = {
      {{"trusted", MarkerPolicy::trusted},
       {"all", MarkerPolicy::all},
       {"none", MarkerPolicy::none},
       {"reject", MarkerPolicy::reject}}};
  static constexpr std::array<std::pair<std::string_view, OnLoss>, 2> kOnLoss = {
      {{"raise", OnLoss::raise}, {"template", OnLoss::template_text}}};
  RendererConfig config{std::move(family), std::move(options),
                        parse_enum("config.marker_policy", marker_policy, kPolicies),
                        parse_enum("config.on_loss", on_loss, kOnLoss), std::nullopt};
  if (thinking_retention) {
    config.thinking_retention = parse_enum("config.thinking_retention", *thinking_retention, kRetentions);
  }
  return std::make_unique<Renderer>(std::move(tokenizer), config);
}

}  // namespace

py::tuple to_arrays(TokenColumns&& columns, bool byte_offsets) {
  const auto n = static_cast<py::ssize_t>(columns.byte_offsets.size() / 2);
  py::object offsets = py::none();
  if (byte_offsets) offsets = to_array<std::int64_t>(std::move(columns.byte_offsets), {n, 2});
  const py::array sampled_mask = to_array<bool>(std::move(columns.sampled_mask));
  const py::array loss_mask =
      columns.loss_mask.empty() ? sampled_mask : to_array<bool>(std::move(columns.loss_mask));
  return py::make_tuple(to_array<std::int32_t>(std::move(columns.token_ids)),
                        to_array<std::int32_t>(std::move(columns.message_indices)),
                        to_array<std::uint8_t>(std::move(columns.fields)), sampled_mask,
                        to_array<bool>(std::move(columns.is_content)), loss_mask, std::move(offsets));
}

py::tuple to_tuple(const MarkerHit& marker) {
  return py::make_tuple(marker.message, static_cast<int>(marker.field), marker.begin, marker.end,
                        marker.token, marker.became_token);
}

namespace {

py::str render_text(const Renderer& renderer, const py::object& messages, const py::object& tools,
                    bool add_generation_prompt, bool continue_final_message) {
  KeepAlive keep_alive;
  const Conversation conversation =
      read_conversation(messages.ptr(), tools.ptr(), renderer.prints_content_lists(), keep_alive);
  std::string text;
  {
    const py::gil_scoped_release detached;
    text = renderer.render_prompt(conversation, {add_generation_prompt, continue_final_message, false}).text;
  }
  return {text.data(), text.size()};
}

py::list render_ids(const Renderer& renderer, const py::object& messages, const py::object& tools,
                    bool add_generation_prompt, bool continue_final_message) {
  KeepAlive keep_alive;
  const Conversation conversation =
      read_conversation(messages.ptr(), tools.ptr(), renderer.prints_content_lists(), keep_alive);
  std::vector<TokenId> ids;
  {
    const py::gil_scoped_release detached;
    ids = renderer.render(conversation, {add_generation_prompt, continue_final_message, false})
              .columns.token_ids;
  }
  return py::cast(ids);
}

/// arrays, markers, roles, tool names
py::tuple render(const Renderer& renderer, const py::object& messages, const py::object& tools,
                 bool add_generation_prompt, bool continue_final_message, bool byte_offsets,
                 const LossRule* loss) {
  KeepAlive keep_alive;
  const Conversation conversation =
      read_conversation(messages.ptr(), tools.ptr(), renderer.prints_content_lists(), keep_alive);
  RenderedColumns rendered;
  {
    const py::gil_scoped_release detached;
    rendered = renderer.render(conversation, {add_generation_prompt, continue_final_message, byte_offsets},
                               loss == nullptr ? LossRule{} : *loss);
  }
  py::list markers;
  for (const MarkerHit& marker : rendered.markers) markers.append(to_tuple(marker));
  py::list roles;
  for (const Message& message : conversation.messages)
    roles.append(py::str(message.role.data(), message.role.size()));
  return py::make_tuple(to_arrays(std::move(rendered.columns), byte_offsets), markers, roles,
                        py::cast(tool_names(conversation)));
}

std::string_view thinking_retention(const Renderer& renderer) {
  return std::ranges::find(kRetentions, renderer.thinking_retention(),
                           &std::pair<std::string_view, ThinkingRetention>::second)
      ->first;
}

/// The Python exception of a row, with a note that says which row it is.
py::object row_exception(std::size_t row, const Error& error) {
  py::object exception = to_python_exception(error);
  exception.attr("add_note")("row " + std::to_string(row) + " of the batch");
  return exception;
}

/// Reads the rows of a batch and keeps those that cannot be read apart.
class BatchReader {
 public:
  explicit BatchReader(bool keep_content_lists) : keep_content_lists_(keep_content_lists) {}

  void read(const py::list& conversations, const py::object& tools, const py::object& tools_per_row) {
    rows_.resize(conversations.size());
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const py::object messages = conversations[row];
      const py::object row_tools = tools_per_row.is_none() ? tools : py::object(tools_per_row[py::int_(row)]);
      try {
        rows_[row] = read_conversation(messages.ptr(), row_tools.ptr(), keep_content_lists_, keep_alive_);
      } catch (const Error& error) {
        errors_.emplace_back(row, row_exception(row, error));
      }
    }
  }

  /// Rows with their rules; no rules at all are the default for each.
  [[nodiscard]] std::vector<BatchRow> rows(std::span<const LossRule* const> loss) const {
    std::vector<BatchRow> rows;
    rows.reserve(rows_.size());
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      rows.push_back({rows_[row] ? &*rows_[row] : nullptr, loss.empty() ? nullptr : loss[row]});
    }
    return rows;
  }

  /// All errors by row, those of rendering among them.
  [[nodiscard]] std::vector<std::pair<std::size_t, py::object>> errors(const BatchColumns& batch) const {
    auto errors = errors_;
    for (const auto& [row, raised] : batch.errors) {
      try {
        std::rethrow_exception(raised);
      } catch (const Error& error) {
        errors.emplace_back(row, row_exception(row, error));
      }
    }
    std::ranges::sort(errors, {}, &std::pair<std::size_t, py::object>::first);
    return errors;
  }

 private:
  const bool keep_content_lists_;
  KeepAlive keep_alive_;
  std::vector<std::optional<Conversation>> rows_;
  std::vector<std::pair<std::size_t, py::object>> errors_;
};

/// arrays, offsets, markers as (row, marker), errors as (row, exception)
py::tuple render_batch(const Renderer& renderer, const py::list& conversations, const py::object& tools,
                       const py::object& tools_per_row, bool add_generation_prompt, bool byte_offsets,
                       std::size_t threads, const std::vector<const LossRule*>& loss) {
  BatchReader reader(renderer.prints_content_lists());
  reader.read(conversations, tools, tools_per_row);
  const std::vector<BatchRow> rows = reader.rows(loss);
  BatchColumns batch;
  {
    const py::gil_scoped_release detached;
    batch = renderer.render_batch(rows, {add_generation_prompt, false, byte_offsets}, threads);
  }
  py::list markers;
  for (const auto& [row, marker] : batch.markers) markers.append(py::make_tuple(row, to_tuple(marker)));
  return py::make_tuple(to_arrays(std::move(batch.columns), byte_offsets),
                        to_array<std::int64_t>(std::move(batch.offsets)), markers,
                        py::cast(reader.errors(batch)));
}

}  // namespace

void bind_renderer(py::module_& module) {
  py::class_<Renderer>(module, "Renderer")
      .def(py::init(&make_renderer), py::arg("tokenizer"), py::arg("family"), py::kw_only(),
           py::arg("options"), py::arg("marker_policy"), py::arg("on_loss"), py::arg("thinking_retention"))
      .def("render_text", &render_text, py::arg("messages"), py::arg("tools"),
           py::arg("add_generation_prompt"), py::arg("continue_final_message"))
      .def("render_ids", &render_ids, py::arg("messages"), py::arg("tools"), py::arg("add_generation_prompt"),
           py::arg("continue_final_message"))
      .def("render", &render, py::arg("messages"), py::arg("tools"), py::arg("add_generation_prompt"),
           py::arg("continue_final_message"), py::arg("byte_offsets"), py::arg("loss"))
      .def("render_batch", &render_batch, py::arg("conversations"), py::arg("tools"),
           py::arg("tools_per_row"), py::arg("add_generation_prompt"), py::arg("byte_offsets"),
           py::arg("threads"), py::arg("loss"))
      .def("stop_token_ids", &Renderer::stop_token_ids)
      .def_property_readonly("thinking_retention", &thinking_retention)
      .def_property_readonly("is_prefix_stable", &Renderer::is_prefix_stable);
}

}  // namespace turnloom
