// From one turn of a rollout to the next: the ids that were sampled stay as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "turnloom/columns.hpp"
#include "turnloom/tokenizer.hpp"

namespace turnloom {

/// Why it cannot be proven that the next prompt is the last one, its completion and more.
enum class RefusalReason : std::uint8_t {
  empty_prompt,
  nothing_new,
  new_assistant_message,
  unknown_role,
  stop_inside_reasoning,
  retention_policy,  ///< the next prompt would have less of the earlier reasoning
  text_after_close,  ///< ids behind the last close of the completion
};

struct BridgeRefusal {
  RefusalReason reason;
  std::string detail;  ///< names the place and what is wrong there
};

/// What goes behind the prompt and the completion to make the next prompt. Message indices are those of the
/// new messages.
struct BridgeExtension {
  std::size_t n_kept = 0;  ///< ids of the completion that stay: all, unless it was trimmed
  TokenColumns columns;
  std::vector<MarkerHit> markers;  ///< in the text of the extension
};

using BridgeOutcome = std::variant<BridgeExtension, BridgeRefusal>;

}  // namespace turnloom
