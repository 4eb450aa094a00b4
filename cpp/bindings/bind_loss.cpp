#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bind.hpp"
#include "turnloom/loss.hpp"

namespace turnloom {
namespace {

namespace py = pybind11;

/// `turns` is "all", "last", or the indices of messages.
LossRule make_loss_rule(std::variant<std::string, std::vector<std::size_t>> turns,
                        const std::vector<std::string>& content_roles, bool reasoning, bool stop) {
  LossRule rule;
  rule.content_roles = {content_roles.begin(), content_roles.end()};
  rule.reasoning = reasoning;
  rule.stop = stop;
  if (auto* messages = std::get_if<std::vector<std::size_t>>(&turns)) {
    rule.turns = LossRule::Turns::listed;
    rule.messages = std::move(*messages);
  } else {
    rule.turns = std::get<std::string>(turns) == "last" ? LossRule::Turns::last : LossRule::Turns::all;
  }
  return rule;
}

}  // namespace

void bind_loss(py::module_& module) {
  py::class_<LossRule>(module, "LossRule")
      .def(py::init(&make_loss_rule), py::kw_only(), py::arg("turns"), py::arg("content_roles"),
           py::arg("reasoning"), py::arg("stop"));
}

}  // namespace turnloom
