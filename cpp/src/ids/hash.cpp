#include "turnloom/hash.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "ids/hash_lanes.hpp"

namespace turnloom {
namespace {

std::uint64_t step(std::uint64_t hash, std::uint32_t byte) noexcept { return (hash ^ byte) * kFnvPrime; }

std::string_view bytes_of(std::span<const TokenId> ids) noexcept {
  return {reinterpret_cast<const char*>(ids.data()), ids.size_bytes()};
}

/// Hashes rows that `row_bytes(row)` gives, some at a time.
template <typename RowBytes>
std::vector<std::uint64_t> hash_rows(std::size_t n_rows, std::uint64_t state, RowBytes row_bytes) {
  std::vector<std::uint64_t> hashes(n_rows);
  std::array<std::string_view, kHashLanes> group;
  for (std::size_t begin = 0; begin < n_rows; begin += kHashLanes) {
    const std::size_t n = std::min(kHashLanes, n_rows - begin);
    for (std::size_t lane = 0; lane < n; ++lane) group[lane] = row_bytes(begin + lane);
    fnv1a_64_batch({group.data(), n}, state, {&hashes[begin], n});
  }
  return hashes;
}

}  // namespace

std::uint64_t fnv1a_64(std::string_view bytes, std::uint64_t state) noexcept {
  for (const char byte : bytes) state = step(state, static_cast<unsigned char>(byte));
  return state;
}

std::uint64_t fnv1a_64(std::span<const TokenId> ids, std::uint64_t state) noexcept {
  for (const TokenId id : ids) {
    const auto bits = static_cast<std::uint32_t>(id);
    for (const int shift : {0, 8, 16, 24}) state = step(state, bits >> shift & 0xFFU);
  }
  return state;
}

std::uint64_t fnv1a_64_round(std::optional<std::uint64_t> round) noexcept {
  std::uint64_t state = kFnvOffsetBasis;
  if (!round) return state;
  for (int shift = 0; shift < 64; shift += 8) state = step(state, *round >> shift & 0xFFU);
  return state;
}

void fnv1a_64_batch(std::span<const std::string_view> rows, std::uint64_t state,
                    std::span<std::uint64_t> hashes) noexcept {
  const VectorLevel level = best_vector_level();
  std::size_t row = 0;
  for (; row + kHashLanes <= rows.size(); row += kHashLanes) {
    hash_lanes(&rows[row], state, &hashes[row], level);
  }
  for (; row < rows.size(); ++row) hashes[row] = fnv1a_64(rows[row], state);
}

template <typename Offset>
std::vector<std::uint64_t> fnv1a_64_batch(const char* text, std::span<const Offset> offsets,
                                          std::uint64_t state) {
  return hash_rows(offsets.size() - 1, state, [&](std::size_t row) {
    return std::string_view(text + offsets[row], static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
  });
}

template std::vector<std::uint64_t> fnv1a_64_batch(const char*, std::span<const std::int32_t>, std::uint64_t);
template std::vector<std::uint64_t> fnv1a_64_batch(const char*, std::span<const std::int64_t>, std::uint64_t);

std::vector<std::uint64_t> fnv1a_64_batch(std::span<const TokenId> ids, std::span<const std::int64_t> offsets,
                                          std::uint64_t state) {
  const auto row_ids = [&](std::size_t row) {
    return ids.subspan(static_cast<std::size_t>(offsets[row]),
                       static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
  };
  if constexpr (std::endian::native == std::endian::little) {
    return hash_rows(offsets.size() - 1, state, [&](std::size_t row) { return bytes_of(row_ids(row)); });
  }
  std::vector<std::uint64_t> hashes(offsets.size() - 1);
  for (std::size_t row = 0; row < hashes.size(); ++row) hashes[row] = fnv1a_64(row_ids(row), state);
  return hashes;
}

std::string hashed_bytes(std::span<const TokenId> ids) {
  if constexpr (std::endian::native == std::endian::little) return std::string(bytes_of(ids));
  std::string bytes;
  bytes.reserve(ids.size_bytes());
  for (const TokenId id : ids) {
    for (const int shift : {0, 8, 16, 24})
      bytes += static_cast<char>(static_cast<std::uint32_t>(id) >> shift & 0xFFU);
  }
  return bytes;
}

std::vector<std::uint64_t> prefix_hashes(std::span<const TokenId> ids, std::size_t block_size) {
  std::vector<std::uint64_t> hashes(ids.size() / block_size);
  std::uint64_t state = kFnvOffsetBasis;
  for (std::size_t block = 0; block < hashes.size(); ++block) {
    state = fnv1a_64(ids.subspan(block * block_size, block_size), state);
    hashes[block] = state;
  }
  return hashes;
}

}  // namespace turnloom
