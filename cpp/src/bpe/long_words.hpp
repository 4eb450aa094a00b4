// What words encode to that have no place in a WordTable: long ones, and those of many tokens.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bpe/large_array.hpp"
#include "bpe/merge.hpp"

namespace turnloom {

/// Like WordTable: read and added to without locks, nothing is changed or taken out, bounded.
class LongWords {
 public:
  static constexpr std::size_t kMaxBytes = 1024;

  /// `n_slots`, a power of two, bounds the number of words, `n_bytes` the memory that they take.
  LongWords(std::size_t n_slots, std::size_t n_bytes);

  /// The tokens of a word, none if it is not there.
  [[nodiscard]] std::span<const Symbol> find(std::string_view word) const noexcept;
  /// Words of more than kMaxBytes are not kept.
  void insert(std::string_view word, std::span<const Symbol> symbols) noexcept;

 private:
  // In front of the symbols and the bytes of a word.
  struct Entry {
    std::uint32_t n_symbols;
    std::uint32_t n_bytes;
  };

  [[nodiscard]] bool is(std::size_t position, std::string_view word) const noexcept;

  LargeArray<std::atomic<std::uint32_t>> slots_;  ///< where an entry is; 0 for none
  LargeArray<Symbol> memory_;
  std::atomic<std::size_t> n_taken_ = 1;  ///< of memory_
  std::atomic<std::size_t> n_words_ = 0;
  int shift_;
};

}  // namespace turnloom
