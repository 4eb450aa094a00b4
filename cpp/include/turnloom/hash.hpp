// FNV-1a, 64 bits: fast, the same on every machine, and no defence against chosen collisions.
//
// Token ids are hashed as the bytes of little-endian int32, wherever the code runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "turnloom/types.hpp"

namespace turnloom {

/// The hash of nothing, where every hash without a round starts.
inline constexpr std::uint64_t kFnvOffsetBasis = 14695981039346656037U;
inline constexpr std::uint64_t kFnvPrime = 1099511628211U;

/// The hash of `bytes` after what `state` is the hash of.
[[nodiscard]] std::uint64_t fnv1a_64(std::string_view bytes, std::uint64_t state = kFnvOffsetBasis) noexcept;
[[nodiscard]] std::uint64_t fnv1a_64(std::span<const TokenId> ids,
                                     std::uint64_t state = kFnvOffsetBasis) noexcept;

/// The hash of a round's 8 bytes, least significant first; without a round, of nothing.
[[nodiscard]] std::uint64_t fnv1a_64_round(std::optional<std::uint64_t> round) noexcept;

/// Hashes every row after `state` into `hashes`, which has as many entries. Rows are hashed side by side: one
/// by one, each byte would wait for the multiplication of the byte before.
void fnv1a_64_batch(std::span<const std::string_view> rows, std::uint64_t state,
                    std::span<std::uint64_t> hashes) noexcept;

/// The same for rows one after the other: row r is `text[offsets[r], offsets[r + 1])`. `Offset` is int32 or
/// int64; offsets are in order and in range.
template <typename Offset>
[[nodiscard]] std::vector<std::uint64_t> fnv1a_64_batch(const char* text, std::span<const Offset> offsets,
                                                        std::uint64_t state);

/// The same for rows of token ids: row r is `ids[offsets[r], offsets[r + 1])`.
[[nodiscard]] std::vector<std::uint64_t> fnv1a_64_batch(std::span<const TokenId> ids,
                                                        std::span<const std::int64_t> offsets,
                                                        std::uint64_t state);

/// The bytes that ids are hashed as.
[[nodiscard]] std::string hashed_bytes(std::span<const TokenId> ids);

/// One hash for each full block of `block_size` ids, which is not 0: entry b is the hash of everything before
/// the end of block b, from the first id on.
[[nodiscard]] std::vector<std::uint64_t> prefix_hashes(std::span<const TokenId> ids, std::size_t block_size);

}  // namespace turnloom
