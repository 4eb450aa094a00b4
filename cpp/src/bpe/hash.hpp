// Hashes of the native encoder's tables. They are never stored: nothing depends on their values.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace turnloom {

/// The eight bytes at `data`.
[[nodiscard]] inline std::uint64_t load_8(const char* data) noexcept {
  std::uint64_t word;
  std::memcpy(&word, data, sizeof word);
  return word;
}

/// Spreads every bit of `word` over the upper bits of the result.
[[nodiscard]] inline std::uint64_t mix(std::uint64_t word) noexcept {
  word *= 0x9E3779B97F4A7C15U;
  word ^= word >> 32;
  return word * 0xD6E8FEB86659FD93U;
}

[[nodiscard]] inline std::uint64_t hash_bytes(std::string_view bytes) noexcept {
  std::uint64_t hash = bytes.size();
  while (bytes.size() >= 8) {
    hash = std::rotl(mix(hash ^ load_8(bytes.data())), 29);
    bytes.remove_prefix(8);
  }
  std::uint64_t rest = 0;
  if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
  return mix(hash ^ rest);
}

}  // namespace turnloom
