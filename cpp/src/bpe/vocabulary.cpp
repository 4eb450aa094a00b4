#include "bpe/vocabulary.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "bpe/hash.hpp"
#include "turnloom/error.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

std::string place_of(TokenId id) { return "vocabulary[" + std::to_string(id) + "]"; }

std::vector<std::string_view> by_id(std::span<const SpelledToken> tokens) {
  TokenId end_id = 0;
  for (const SpelledToken& token : tokens) {
    if (token.id < 0 || token.id >= kMaxTokens)
      throw Error(ErrorKind::value, place_of(token.id), "id out of range");
    end_id = std::max(end_id, token.id + 1);
  }
  std::vector<std::string_view> strings(static_cast<std::size_t>(end_id));
  for (const SpelledToken& token : tokens) {
    std::string_view& bytes = strings[static_cast<std::size_t>(token.id)];
    if (bytes.data() != nullptr) throw Error(ErrorKind::value, place_of(token.id), "id given twice");
    bytes = token.bytes;
  }
  return strings;
}

}  // namespace

Vocabulary::Vocabulary(std::span<const SpelledToken> tokens) : bytes_(by_id(tokens)) {
  const std::size_t n_slots = std::bit_ceil(std::max<std::size_t>(16, tokens.size() * 3 / 2));
  slots_.assign(n_slots, {kNoToken, 0});
  shift_ = 64 - std::countr_zero(n_slots);
  for (const SpelledToken& token : tokens) {
    if (token.bytes.empty()) continue;
    const std::uint64_t hash = hash_bytes(token.bytes);
    const auto tag = static_cast<std::uint32_t>(hash);
    std::size_t slot = hash >> shift_;
    for (; slots_[slot].id != kNoToken; slot = (slot + 1) & (n_slots - 1)) {
      if (slots_[slot].tag == tag && bytes(slots_[slot].id) == token.bytes)
        throw Error(ErrorKind::value, place_of(token.id), "spelled twice");
    }
    slots_[slot] = {token.id, tag};
  }
}

TokenId Vocabulary::find(std::string_view spelling) const noexcept {
  const std::uint64_t hash = hash_bytes(spelling);
  const auto tag = static_cast<std::uint32_t>(hash);
  for (std::size_t slot = hash >> shift_; slots_[slot].id != kNoToken;
       slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].tag == tag && bytes(slots_[slot].id) == spelling) return slots_[slot].id;
  }
  return kNoToken;
}

std::string_view Vocabulary::bytes(TokenId id) const noexcept {
  if (id < 0 || id >= end_id()) return {};
  return bytes_[static_cast<std::size_t>(id)];
}

}  // namespace turnloom
