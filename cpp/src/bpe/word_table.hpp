// What words of a few bytes encode to: every token of the vocabulary, and words that were met.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bpe/hash.hpp"
#include "bpe/large_array.hpp"
#include "turnloom/types.hpp"

namespace turnloom {

/// A token of a word and how many bytes of the word it is, in 32 bits; 0 stands for no token.
struct PackedToken {
  static constexpr int kLengthBits = 4;

  std::uint32_t bits = 0;

  /// In place of the first: the word has too many tokens and is one of LongWords.
  [[nodiscard]] static PackedToken too_many() noexcept { return {1U << kLengthBits}; }
  [[nodiscard]] bool is_too_many() const noexcept { return n_bytes() == 0; }

  [[nodiscard]] static PackedToken of(TokenId id, std::size_t n_bytes) noexcept {
    return {static_cast<std::uint32_t>(id) << kLengthBits | static_cast<std::uint32_t>(n_bytes)};
  }
  [[nodiscard]] TokenId id() const noexcept { return static_cast<TokenId>(bits >> kLengthBits); }
  [[nodiscard]] std::uint32_t n_bytes() const noexcept { return bits & ((1U << kLengthBits) - 1); }
  explicit operator bool() const noexcept { return bits != 0; }
};

/// The bits of the first bytes of two words, by the number of bytes.
inline constexpr auto kWordMasks = [] {
  std::array<std::array<std::uint64_t, 2>, 16> masks{};
  for (std::size_t n_bytes = 0; n_bytes < masks.size(); ++n_bytes) {
    for (std::size_t i = 0; i < n_bytes; ++i) masks[n_bytes][i / 8] |= std::uint64_t{0xFF} << 8 * (i % 8);
  }
  return masks;
}();

/// The bytes of a word of at most 15, and their number in the last byte. Never zero.
struct WordKey {
  static constexpr std::size_t kMaxBytes = 15;

  std::uint64_t low;
  std::uint64_t high;

  /// `n_readable` bytes, those of the word among them, may be read at `word`.
  [[nodiscard]] static WordKey of(const char* word, std::size_t n_bytes, std::size_t n_readable) noexcept {
    const std::uint64_t length = static_cast<std::uint64_t>(n_bytes) << 56;
    if (n_readable >= 16) {
      return {load_8(word) & kWordMasks[n_bytes][0], (load_8(word + 8) & kWordMasks[n_bytes][1]) | length};
    }
    char copy[16] = {};
    std::memcpy(copy, word, n_bytes);
    return {load_8(copy), load_8(copy + 8) | length};
  }

  [[nodiscard]] std::size_t n_bytes() const noexcept { return high >> 56; }
  /// Of the upper bits, each depends on every byte.
  [[nodiscard]] std::uint64_t hash() const noexcept {
    return low * 0x9E3779B97F4A7C15U + high * 0xC2B2AE3D27D4EB4FU;
  }
};

/// A table that any number of threads read and add to, without locks; nothing is ever changed or taken out.
/// Bounded: when it is full, nothing is added.
class WordTable {
 public:
  using Tokens = std::array<PackedToken, 4>;

  /// `n_slots` is a power of two.
  explicit WordTable(std::size_t n_slots) : slots_(n_slots), shift_(64 - std::countr_zero(n_slots)) {}

  [[nodiscard]] std::size_t slot_of(const WordKey& key) const noexcept { return key.hash() >> shift_; }
  void prefetch(std::size_t slot) const noexcept { turnloom::prefetch(&slots_[slot]); }

  /// The tokens of a word, or null; `slot` is its `slot_of`.
  [[nodiscard]] const Tokens* find(const WordKey& key, std::size_t slot) const noexcept {
    for (;; slot = next(slot)) {
      const Slot& there = slots_[slot];
      const std::uint64_t high = there.high.load(std::memory_order_acquire);
      if (high == key.high && there.low == key.low) return &there.tokens;
      if (high == 0) return nullptr;
    }
  }

  void insert(const WordKey& key, const Tokens& tokens) noexcept {
    if (n_used_.load(std::memory_order_relaxed) >= slots_.size() / 4 * 3) return;
    for (std::size_t slot = slot_of(key);; slot = next(slot)) {
      Slot& there = slots_[slot];
      std::uint64_t high = 0;
      if (there.high.compare_exchange_strong(high, kBusy, std::memory_order_acquire)) {
        there.low = key.low;
        there.tokens = tokens;
        there.high.store(key.high, std::memory_order_release);
        n_used_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
      if (high == key.high && there.low == key.low) return;
    }
  }

 private:
  // `high` is written last: who reads it there finds the rest as it was written before. Two threads that add
  // a word at once may not see each other, and then it is there twice.
  struct Slot {
    std::uint64_t low;
    std::atomic<std::uint64_t> high;
    Tokens tokens;
  };
  static constexpr std::uint64_t kBusy = UINT64_MAX;  // no word has 255 bytes

  [[nodiscard]] std::size_t next(std::size_t slot) const noexcept { return (slot + 1) & (slots_.size() - 1); }

  LargeArray<Slot> slots_;  ///< all zero for none
  int shift_;               ///< a hash shifted right by it is the index of a slot
  std::atomic<std::size_t> n_used_ = 0;
};

}  // namespace turnloom
