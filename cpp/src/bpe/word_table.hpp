// What words of a few bytes encode to: every token of the vocabulary, and words that were met.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bpe/large_array.hpp"
#include "turnloom/types.hpp"

namespace turnloom {

/// A token of a word and how many bytes of the word it is, in 32 bits; 0 stands for no token.
struct PackedToken {
  static constexpr int kLengthBits = 5;

  std::uint32_t bits = 0;

  [[nodiscard]] static PackedToken of(TokenId id, std::size_t n_bytes) noexcept {
    return {static_cast<std::uint32_t>(id) << kLengthBits | static_cast<std::uint32_t>(n_bytes)};
  }
  [[nodiscard]] TokenId id() const noexcept { return static_cast<TokenId>(bits >> kLengthBits); }
  [[nodiscard]] std::uint32_t n_bytes() const noexcept { return bits & ((1U << kLengthBits) - 1); }
  explicit operator bool() const noexcept { return bits != 0; }
};

/// The bits of the first bytes of `kWords` words, by the number of bytes.
template <std::size_t kWords>
inline constexpr auto kWordMasks = [] {
  std::array<std::array<std::uint64_t, kWords>, 8 * kWords> masks{};
  for (std::size_t n_bytes = 0; n_bytes < masks.size(); ++n_bytes) {
    for (std::size_t i = 0; i < n_bytes; ++i) masks[n_bytes][i / 8] |= std::uint64_t{0xFF} << 8 * (i % 8);
  }
  return masks;
}();

/// The bytes of a word of less than `8 * kWords`, and their number in the last byte. Never zero.
template <std::size_t kWords>
struct WordKey {
  static constexpr std::size_t kMaxBytes = 8 * kWords - 1;

  std::array<std::uint64_t, kWords> words;

  /// `readable` bytes may be read at `word`: a copy of the last few bytes of a text is not needed elsewhere.
  [[nodiscard]] static WordKey of(const char* word, std::size_t n_bytes, std::size_t readable) noexcept {
    WordKey key;
    if (readable >= sizeof key.words) {
      std::memcpy(key.words.data(), word, sizeof key.words);
      for (std::size_t i = 0; i < kWords; ++i) key.words[i] &= kWordMasks<kWords>[n_bytes][i];
    } else {
      key.words = {};
      std::memcpy(key.words.data(), word, n_bytes);
    }
    key.words[kWords - 1] |= static_cast<std::uint64_t>(n_bytes) << 56;
    return key;
  }

  [[nodiscard]] std::uint64_t hash() const noexcept {
    constexpr std::uint64_t kFactors[] = {0x9E3779B97F4A7C15U, 0xC2B2AE3D27D4EB4FU, 0x165667B19E3779F9U,
                                          0xD6E8FEB86659FD93U};
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kWords; ++i) sum ^= words[i] * kFactors[i];
    sum ^= sum >> 32;
    return sum * 0x9FB21C651E98DF25U;
  }
};

/// A table that any number of threads read and add to, without locks; nothing is ever changed or taken out.
/// An entry that two threads add at once may be there twice. Bounded: when it is full, nothing is added.
template <std::size_t kWords>
class WordTable {
 public:
  using Key = WordKey<kWords>;
  using Tokens = std::array<PackedToken, 2 * kWords>;

  /// `n_slots` is a power of two.
  explicit WordTable(std::size_t n_slots) : slots_(n_slots), shift_(64 - std::countr_zero(n_slots)) {}

  [[nodiscard]] std::size_t slot_of(const Key& key) const noexcept { return key.hash() >> shift_; }
  void prefetch(std::size_t slot) const noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(&slots_[slot]);
#endif
  }

  /// Whether the word is there; `slot` is its `slot_of`.
  [[nodiscard]] bool find(const Key& key, std::size_t slot, Tokens& tokens) const noexcept {
    for (;;) {
      const Slot& found = slots_[slot];
      const std::uint64_t last = found.last_key_word.load(std::memory_order_acquire);
      if (last == key.words[kWords - 1] && found.rest_is(key)) {
        found.get(tokens);
        return true;
      }
      if (last == 0) return false;
      slot = (slot + 1) & (slots_.size() - 1);
    }
  }

  void insert(const Key& key, const Tokens& tokens) noexcept {
    if (n_used_.load(std::memory_order_relaxed) >= slots_.size() / 4 * 3) return;
    for (std::size_t slot = slot_of(key);; slot = (slot + 1) & (slots_.size() - 1)) {
      Slot& free = slots_[slot];
      std::uint64_t last = free.last_key_word.load(std::memory_order_acquire);
      if (last == 0 && free.last_key_word.compare_exchange_strong(last, kBusy, std::memory_order_relaxed)) {
        free.set(key, tokens);
        n_used_.fetch_add(1, std::memory_order_relaxed);
        return;
      }
      if (last == key.words[kWords - 1] && free.rest_is(key)) return;
    }
  }

 private:
  // No key has it: a word has no 255 bytes.
  static constexpr std::uint64_t kBusy = UINT64_MAX;

  // The last word of the key is written last: who reads it, reads the rest as it was written before.
  struct Slot {
    std::atomic<std::uint64_t> last_key_word;
    std::atomic<std::uint64_t> key_words[kWords - 1];
    std::atomic<std::uint64_t> token_pairs[kWords];

    [[nodiscard]] bool rest_is(const Key& key) const noexcept {
      std::uint64_t difference = 0;
      for (std::size_t i = 0; i + 1 < kWords; ++i) {
        difference |= key_words[i].load(std::memory_order_relaxed) ^ key.words[i];
      }
      return difference == 0;
    }
    void get(Tokens& tokens) const noexcept {
      for (std::size_t i = 0; i < kWords; ++i) {
        const std::uint64_t pair = token_pairs[i].load(std::memory_order_relaxed);
        tokens[2 * i] = {static_cast<std::uint32_t>(pair)};
        tokens[2 * i + 1] = {static_cast<std::uint32_t>(pair >> 32)};
      }
    }
    void set(const Key& key, const Tokens& tokens) noexcept {
      for (std::size_t i = 0; i + 1 < kWords; ++i)
        key_words[i].store(key.words[i], std::memory_order_relaxed);
      for (std::size_t i = 0; i < kWords; ++i) {
        const std::uint64_t second = tokens[2 * i + 1].bits;
        token_pairs[i].store(tokens[2 * i].bits | second << 32, std::memory_order_relaxed);
      }
      last_key_word.store(key.words[kWords - 1], std::memory_order_release);
    }
  };

  LargeArray<Slot> slots_;  // all zero is an empty table
  int shift_;               ///< a hash shifted right by it is the index of a slot
  std::atomic<std::size_t> n_used_ = 0;
};

}  // namespace turnloom
