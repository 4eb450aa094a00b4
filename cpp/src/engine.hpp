// The walk over a conversation, the same for every family.
#pragma once

#include "families/family.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {

/// Renders a conversation as the family writes it. Linear in its size.
/// Throws Error: value (no messages, nothing to continue), render (something would be lost).
[[nodiscard]] Prompt render_prompt(const Family& family, OnLoss on_loss, const Conversation& conversation,
                                   const RenderOptions& options);

}  // namespace turnloom
