// The loop that hashes several rows of bytes side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ids/vector_level.hpp"

namespace turnloom {

/// How many rows are hashed side by side.
inline constexpr std::size_t kHashLanes = 16;

/// Hashes `kHashLanes` rows after `state`, with the instructions of `level`, which the processor has.
void hash_lanes(const std::string_view* rows, std::uint64_t state, std::uint64_t* hashes,
                VectorLevel level) noexcept;

}  // namespace turnloom
