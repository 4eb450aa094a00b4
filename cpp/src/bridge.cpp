#include "turnloom/bridge.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "attribution.hpp"
#include "engine.hpp"
#include "families/family.hpp"
#include "segmenter.hpp"
#include "turnloom/error.hpp"
#include "turnloom/parse.hpp"
#include "turnloom/renderer.hpp"

namespace turnloom {
namespace {

std::string place_of(std::size_t message) { return "new_messages[" + std::to_string(message) + "].role: "; }

/// What is wrong with the new messages by themselves.
std::optional<BridgeRefusal> check_messages(const Family& family, std::span<const Message> messages) {
  if (messages.empty()) return BridgeRefusal{RefusalReason::nothing_new, "new_messages: no messages"};
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role == "assistant") {
      return BridgeRefusal{RefusalReason::new_assistant_message,
                           place_of(i) + "an assistant's message was not sampled behind this prompt"};
    }
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string_view role = messages[i].role;
    if (family.renders_role(role)) continue;
    return BridgeRefusal{RefusalReason::unknown_role, place_of(i) + std::string(family.traits().name) +
                                                          " does not render the role " + quoted(role)};
  }
  return std::nullopt;
}

}  // namespace

BridgeOutcome Renderer::bridge(const CompletionParser& parser, std::span<const TokenId> prompt_ids,
                               std::span<const TokenId> completion_ids, const Conversation& new_messages,
                               bool allow_trim) const {
  if (prompt_ids.empty()) {
    return BridgeRefusal{RefusalReason::empty_prompt, "previous_prompt_ids: no ids"};
  }
  if (auto refusal = check_messages(*family_, new_messages.messages)) return *std::move(refusal);

  const auto is_stop = [&](TokenId id) { return parser.is_stop(id); };
  const auto last_close = std::find_if(completion_ids.rbegin(), completion_ids.rend(), is_stop);
  const auto n_closed = static_cast<std::size_t>(completion_ids.rend() - last_close);
  const bool is_closed = n_closed > 0;

  CompletionEnd end{.in_reasoning = parser.ends_in_reasoning(prompt_ids, completion_ids),
                    .in_turn = !is_closed};
  if (end.in_reasoning && is_closed) {
    return BridgeRefusal{RefusalReason::stop_inside_reasoning,
                         "previous_completion_ids: the turn was closed inside its reasoning"};
  }
  if (thinking_retention_ == ThinkingRetention::tool_cycle) {
    if (const auto query = find_query(*family_, on_loss_, new_messages)) {
      return BridgeRefusal{RefusalReason::retention_policy,
                           place_of(*query) +
                               "earlier reasoning goes when there is a new query "
                               "(thinking_retention=\"all\" keeps it)"};
    }
  }
  BridgeExtension extension{.n_kept = completion_ids.size(), .columns = {}, .markers = {}};
  if (is_closed && n_closed < completion_ids.size()) {
    if (!allow_trim) {
      return BridgeRefusal{RefusalReason::text_after_close,
                           "previous_completion_ids[" + std::to_string(n_closed) +
                               "]: ids behind the close of the turn (allow_trim=True drops them)"};
    }
    extension.n_kept = n_closed;
  }
  extension.markers =
      encode(render_continuation(*family_, on_loss_, new_messages, end), {}, extension.columns);
  return extension;
}

}  // namespace turnloom
