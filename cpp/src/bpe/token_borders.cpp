#include "bpe/token_borders.hpp"

#include "bpe/utf8_prefix.hpp"
#include "turnloom/prompt.hpp"
#include "utf8.hpp"

namespace turnloom {
namespace {

constexpr int kHashBits = 21;

struct Bit {
  std::size_t word;
  std::uint64_t mask;
};

Bit bit_at(std::size_t index) noexcept { return {index / 64, std::uint64_t{1} << index % 64}; }

Bit bit_of(char32_t left, char32_t right) noexcept {
  const std::uint64_t pair = static_cast<std::uint64_t>(left) << 32 | right;
  return bit_at(pair * 0x9E3779B97F4A7C15U >> (64 - kHashBits));
}

Bit fragment_bit(char last, char first) noexcept {
  return bit_at(static_cast<std::size_t>(static_cast<unsigned char>(last)) << 8 |
                static_cast<unsigned char>(first));
}

bool starts_character(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

}  // namespace

TokenBorders::TokenBorders(const Vocabulary& vocabulary)
    : joined_((std::size_t{1} << kHashBits) / 64), fragments_((std::size_t{1} << 16) / 64) {
  for (TokenId id = 0; id < vocabulary.end_id(); ++id) add(vocabulary.bytes(id));
}

void TokenBorders::add(std::string_view token) {
  for (std::size_t i = 1; i < token.size(); ++i) {
    if (!starts_character(token[i])) continue;
    std::size_t left = i - 1;
    while (left > 0 && !starts_character(token[left])) --left;
    std::size_t right = i + 1;
    while (right < token.size() && !starts_character(token[right])) ++right;
    const auto is_character = [&](std::size_t begin, std::size_t end) {
      const std::string_view bytes = token.substr(begin, end - begin);
      return utf8_prefix(bytes).n_valid == bytes.size();
    };
    if (is_character(left, i) && is_character(i, right)) {
      const Bit bit = bit_of(decode_code_point(token, left).value, decode_code_point(token, i).value);
      joined_[bit.word] |= bit.mask;
    } else {
      const Bit bit = fragment_bit(token[i - 1], token[i]);
      fragments_[bit.word] |= bit.mask;
    }
  }
}

void TokenBorders::cut(std::string_view word, std::size_t offset, std::vector<std::uint32_t>& ends) const {
  CodePoint left = decode_code_point(word, 0);
  std::size_t i = left.n_bytes;
  while (i < word.size()) {
    const CodePoint right = decode_code_point(word, i);
    const Bit joined = bit_of(left.value, right.value);
    const Bit fragment = fragment_bit(word[i - 1], word[i]);
    if ((joined_[joined.word] & joined.mask) == 0 && (fragments_[fragment.word] & fragment.mask) == 0) {
      ends.push_back(static_cast<std::uint32_t>(offset + i));
    }
    left = right;
    i += right.n_bytes;
  }
  ends.push_back(static_cast<std::uint32_t>(offset + word.size()));
}

}  // namespace turnloom
