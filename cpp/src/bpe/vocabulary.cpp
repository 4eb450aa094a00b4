#include "bpe/vocabulary.hpp"

#include <algorithm>
#include <bit>

#include "bpe/hash.hpp"
#include "turnloom/error.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

std::string place_of(TokenId id) { return "vocabulary[" + std::to_string(id) + "]"; }

}  // namespace

Vocabulary::Vocabulary(std::span<const SpelledToken> tokens) {
  TokenId end_id = 0;
  std::size_t n_bytes = 0;
  for (const SpelledToken& token : tokens) {
    if (token.id < 0 || token.id >= kMaxTokens) throw Error(ErrorKind::value, place_of(token.id), "id out of range");
    end_id = std::max(end_id, token.id + 1);
    n_bytes += token.bytes.size();
  }
  if (n_bytes > UINT32_MAX) throw Error(ErrorKind::value, "vocabulary", "longer than 4 GiB");

  std::vector<std::string_view> by_id(static_cast<std::size_t>(end_id));
  for (const SpelledToken& token : tokens) {
    std::string_view& bytes = by_id[static_cast<std::size_t>(token.id)];
    if (bytes.data() != nullptr) throw Error(ErrorKind::value, place_of(token.id), "id given twice");
    bytes = token.bytes;
  }
  spellings_.reserve(n_bytes);
  begins_.reserve(by_id.size() + 1);
  for (const std::string_view bytes : by_id) {
    begins_.push_back(static_cast<std::uint32_t>(spellings_.size()));
    spellings_ += bytes;
  }
  begins_.push_back(static_cast<std::uint32_t>(spellings_.size()));

  const std::size_t n_slots = std::bit_ceil(std::max<std::size_t>(16, tokens.size() * 3 / 2));
  slots_.assign(n_slots, {kNoToken, 0});
  shift_ = 64 - std::countr_zero(n_slots);
  for (const SpelledToken& token : tokens) {
    if (token.bytes.empty()) continue;
    const std::uint64_t hash = hash_bytes(token.bytes);
    std::size_t slot = hash >> shift_;
    for (; slots_[slot].id != kNoToken; slot = (slot + 1) & (n_slots - 1)) {
      if (bytes(slots_[slot].id) == token.bytes) throw Error(ErrorKind::value, place_of(token.id), "spelled twice");
    }
    slots_[slot] = {token.id, static_cast<std::uint32_t>(hash)};
  }
}

TokenId Vocabulary::find(std::string_view spelling) const noexcept {
  const std::uint64_t hash = hash_bytes(spelling);
  const auto tag = static_cast<std::uint32_t>(hash);
  for (std::size_t slot = hash >> shift_; slots_[slot].id != kNoToken; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].tag == tag && bytes(slots_[slot].id) == spelling) return slots_[slot].id;
  }
  return kNoToken;
}

std::string_view Vocabulary::bytes(TokenId id) const noexcept {
  if (id < 0 || id >= end_id()) return {};
  const auto index = static_cast<std::size_t>(id);
  return std::string_view(spellings_).substr(begins_[index], begins_[index + 1] - begins_[index]);
}

}  // namespace turnloom
