// Formats that are text alone: no vocabulary, no tools.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "turnloom/types.hpp"

namespace turnloom {

/// Renders a conversation in a format, such as "inst". Without `add_generation_prompt` the format decides.
/// Throws Error: key (no such format), render (a conversation that the format cannot express).
[[nodiscard]] std::string apply_text_format(std::string_view format, const Conversation& conversation,
                                            std::optional<bool> add_generation_prompt);

}  // namespace turnloom
