// The searches of turnloom/scan.hpp with a given set of instructions, so that tests reach every one.
#pragma once

#include "ids/vector_level.hpp"
#include "turnloom/scan.hpp"

namespace turnloom {

template <typename Id>
[[nodiscard]] TokenHits scan_at_level(std::span<const Id> ids, const TokenSet& tokens, VectorLevel level);

template <typename Id>
[[nodiscard]] std::optional<std::size_t> find_last_at_level(std::span<const Id> ids, const TokenSet& tokens,
                                                            VectorLevel level);

}  // namespace turnloom
