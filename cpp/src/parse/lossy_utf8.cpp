#include "parse/lossy_utf8.hpp"

#include <cstdint>

namespace turnloom {
namespace {

constexpr std::size_t kIncomplete = 0;

struct Sequence {
  std::size_t n_bytes;  ///< of the character, of its longest proper beginning, or kIncomplete
  bool valid;
};

// What begins at `at`, after Table 3-7 of the Unicode standard.
Sequence sequence_at(std::string_view bytes, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[at + i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const std::size_t n_bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (std::size_t i = 1; i < n_bytes; ++i) {
    if (at + i == bytes.size()) return {kIncomplete, false};
    if (byte(i) < low || byte(i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {n_bytes, true};
}

}  // namespace

std::size_t append_lossy(std::string_view bytes, std::string& out) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto [n_bytes, valid] = sequence_at(bytes, at);
    if (n_bytes == kIncomplete) break;
    out += valid ? bytes.substr(at, n_bytes) : kReplacement;
    at += n_bytes;
  }
  return at;
}

bool is_utf8(std::string_view bytes) noexcept {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto [n_bytes, valid] = sequence_at(bytes, at);
    if (!valid) return false;
    at += n_bytes;
  }
  return true;
}

}  // namespace turnloom
