#include "bpe/long_words.hpp"

#include <bit>
#include <cstring>

#include "bpe/hash.hpp"

namespace turnloom {
namespace {

// Memory is counted in symbols; so much of it holds some bytes.
constexpr std::size_t n_symbols_for(std::size_t n_bytes) noexcept {
  return (n_bytes + sizeof(Symbol) - 1) / sizeof(Symbol);
}

}  // namespace

LongWords::LongWords(std::size_t n_slots, std::size_t n_bytes)
    : slots_(n_slots), memory_(n_symbols_for(n_bytes)), shift_(64 - std::countr_zero(n_slots)) {
  static_assert(sizeof(Entry) == sizeof(Symbol));
}

bool LongWords::is(std::size_t position, std::string_view word) const noexcept {
  Entry entry;
  std::memcpy(&entry, &memory_[position], sizeof entry);
  return entry.n_bytes == word.size() &&
         std::memcmp(&memory_[position + 1 + entry.n_symbols], word.data(), word.size()) == 0;
}

std::span<const Symbol> LongWords::find(std::string_view word) const noexcept {
  for (std::size_t slot = hash_bytes(word) >> shift_;; slot = (slot + 1) & (slots_.size() - 1)) {
    const std::size_t position = slots_[slot].load(std::memory_order_acquire);
    if (position == 0) return {};
    if (!is(position, word)) continue;
    Entry entry;
    std::memcpy(&entry, &memory_[position], sizeof entry);
    return {&memory_[position + 1], entry.n_symbols};
  }
}

void LongWords::insert(std::string_view word, std::span<const Symbol> symbols) noexcept {
  const std::size_t n_needed = 1 + symbols.size() + n_symbols_for(word.size());
  if (word.size() > kMaxBytes || n_words_.load(std::memory_order_relaxed) >= slots_.size() / 4 * 3) return;
  if (n_taken_.load(std::memory_order_relaxed) + n_needed > memory_.size()) return;
  const std::size_t position = n_taken_.fetch_add(n_needed, std::memory_order_relaxed);
  if (position + n_needed > memory_.size()) return;
  const Entry entry{static_cast<std::uint32_t>(symbols.size()), static_cast<std::uint32_t>(word.size())};
  std::memcpy(&memory_[position], &entry, sizeof entry);
  std::memcpy(&memory_[position + 1], symbols.data(), symbols.size_bytes());
  std::memcpy(&memory_[position + 1 + symbols.size()], word.data(), word.size());
  n_words_.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t slot = hash_bytes(word) >> shift_;; slot = (slot + 1) & (slots_.size() - 1)) {
    std::uint32_t there = 0;
    if (slots_[slot].compare_exchange_strong(there, static_cast<std::uint32_t>(position),
                                             std::memory_order_acq_rel, std::memory_order_acquire)) {
      return;
    }
    if (is(there, word)) return;
  }
}

}  // namespace turnloom
