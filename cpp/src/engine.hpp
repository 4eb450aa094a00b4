// The walk over a conversation, the same for every family.
#pragma once

#include <cstddef>
#include <optional>

#include "families/family.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {

/// Renders a conversation as the family writes it. Linear in its size.
/// Throws Error: value (no messages, nothing to continue), render (something would be lost).
[[nodiscard]] Prompt render_prompt(const Family& family, OnLoss on_loss, const Conversation& conversation,
                                   const RenderOptions& options);

/// The last message that asks something of the model, if one does.
[[nodiscard]] std::optional<std::size_t> find_query(const Family& family, OnLoss on_loss,
                                                    const Conversation& new_messages);

/// How a completion ended, which says what has to be written before messages can go on from it.
struct CompletionEnd {
  bool in_reasoning = false;  ///< its think block is open
  bool in_turn = false;       ///< its turn is open
};

/// Renders messages that go on from a completion, and the generation prompt: what is open is closed first.
/// Linear in the size of the messages. Throws Error (render): something would be lost.
[[nodiscard]] Prompt render_continuation(const Family& family, OnLoss on_loss,
                                         const Conversation& new_messages, const CompletionEnd& end);

}  // namespace turnloom
