#include "ids/hash_lanes.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "turnloom/hash.hpp"

namespace turnloom {
namespace {

/// Four multiplications run in the time of one; the compiler keeps the hashes in registers.
void hash_group_portable(const std::string_view* rows, std::uint64_t state, std::uint64_t* hashes) noexcept {
  constexpr std::size_t kChains = 4;
  for (std::size_t begin = 0; begin < kHashLanes; begin += kChains) {
    const std::string_view* group = rows + begin;
    std::size_t shortest = group[0].size();
    for (std::size_t i = 1; i < kChains; ++i) shortest = std::min(shortest, group[i].size());
    std::array<std::uint64_t, kChains> chains;
    chains.fill(state);
    for (std::size_t at = 0; at < shortest; ++at) {
      for (std::size_t i = 0; i < kChains; ++i) {
        chains[i] = (chains[i] ^ static_cast<unsigned char>(group[i][at])) * kFnvPrime;
      }
    }
    for (std::size_t i = 0; i < kChains; ++i)
      hashes[begin + i] = fnv1a_64(group[i].substr(shortest), chains[i]);
  }
}

#if TURNLOOM_X86_LEVELS

constexpr std::size_t kWord = 8;

/// The first byte is lowest, as these processors are little-endian.
TURNLOOM_INLINE std::uint64_t load_word(const char* bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, kWord);
  return word;
}

/// The bytes from `at` on of a row whose memory is a word or more; past the row's end they mean nothing.
TURNLOOM_INLINE std::uint64_t load_rest(std::string_view row, std::size_t at) noexcept {
  const std::size_t begin = std::min(at, std::max(row.size(), kWord) - kWord);
  return load_word(row.data() + begin) >> (8 * (at - begin) % 64);
}

using Words [[gnu::vector_size(64)]] = std::uint64_t;

TURNLOOM_AVX512 void hash_group_avx512(const std::string_view* rows, std::uint64_t state,
                                       std::uint64_t* out) noexcept {
  constexpr std::size_t kSize = sizeof(Words) / sizeof(std::uint64_t);
  constexpr std::size_t kVectors = kHashLanes / kSize;
  std::size_t shortest = rows[0].size();
  std::size_t longest = shortest;
  std::size_t n_bytes = 0;
  for (std::size_t lane = 0; lane < kHashLanes; ++lane) {
    shortest = std::min(shortest, rows[lane].size());
    longest = std::max(longest, rows[lane].size());
    n_bytes += rows[lane].size();
  }
  std::array<std::string_view, kHashLanes> copied_rows;
  std::array<char, kHashLanes * kWord> copies;
  if (shortest < kWord) {
    copies.fill(0);
    for (std::size_t lane = 0; lane < kHashLanes; ++lane) {
      const bool is_short = rows[lane].size() < kWord;
      char* copy = &copies[lane * kWord];
      if (is_short) std::copy(rows[lane].begin(), rows[lane].end(), copy);
      copied_rows[lane] = is_short ? std::string_view(copy, rows[lane].size()) : rows[lane];
    }
    rows = copied_rows.data();
  }
  // A row much longer than the others is finished by itself, so that the work is linear in the bytes.
  const std::size_t common = std::min(longest, 2 * n_bytes / kHashLanes + 8 * kWord);

  Words hashes[kVectors];
  Words words[kVectors] = {};
  for (Words& hash : hashes) hash = Words{} + state;
  std::size_t at = 0;
  for (; at + kWord <= shortest; at += kWord) {
    for (std::size_t lane = 0; lane < kHashLanes; ++lane) {
      words[lane / kSize][lane % kSize] = load_word(rows[lane].data() + at);
    }
    for (unsigned byte = 0; byte < kWord; ++byte) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        hashes[v] = (hashes[v] ^ (words[v] >> (8 * byte) & 0xFF)) * kFnvPrime;
      }
    }
  }
  Words sizes[kVectors] = {};
  for (std::size_t lane = 0; lane < kHashLanes; ++lane) sizes[lane / kSize][lane % kSize] = rows[lane].size();
  // From here on a lane takes a byte only where its row has one.
  for (; at < common; at += kWord) {
    for (std::size_t lane = 0; lane < kHashLanes; ++lane) {
      words[lane / kSize][lane % kSize] = load_rest(rows[lane], at);
    }
    const std::size_t end = std::min(kWord, longest - at);
    for (std::size_t byte = 0; byte < end; ++byte) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const Words next = (hashes[v] ^ (words[v] & 0xFF)) * kFnvPrime;
        hashes[v] = sizes[v] > Words{} + (at + byte) ? next : hashes[v];
        words[v] >>= 8;
      }
    }
  }
  for (std::size_t lane = 0; lane < kHashLanes; ++lane) {
    const std::uint64_t hash = hashes[lane / kSize][lane % kSize];
    out[lane] = at < rows[lane].size() ? fnv1a_64(rows[lane].substr(at), hash) : hash;
  }
}

#endif

}  // namespace

void hash_lanes(const std::string_view* rows, std::uint64_t state, std::uint64_t* hashes,
                [[maybe_unused]] VectorLevel level) noexcept {
#if TURNLOOM_X86_LEVELS
  // 64-bit multiplication of vectors came with AVX-512; put together from 32 bits it is slower than one by
  // one.
  if (level == VectorLevel::avx512) return hash_group_avx512(rows, state, hashes);
#endif
  hash_group_portable(rows, state, hashes);
}

}  // namespace turnloom
