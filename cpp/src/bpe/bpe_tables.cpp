#include "bpe/bpe_tables.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>

#include "bpe/byte_alphabet.hpp"
#include "turnloom/error.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

constexpr std::string_view kSpaceSymbol = "\u2581";

// From a spelling to the bytes it stands for; nothing for a token that no text can become.
using ToBytes = std::optional<std::string> (*)(std::string_view spelling);

Vocabulary read_vocabulary(const BpeModel& model, ToBytes to_bytes) {
  std::deque<std::string> converted;
  std::vector<SpelledToken> tokens;
  tokens.reserve(model.tokens.size());
  for (const auto& [spelling, id] : model.tokens) {
    converted.push_back(to_bytes(spelling).value_or(std::string()));
    tokens.push_back({converted.back(), id});
  }
  return Vocabulary(tokens);
}

// Every way to put a token together from two others.
std::vector<Merge> merges_by_id(const Vocabulary& vocabulary) {
  std::vector<Merge> merges;
  for (TokenId id = 0; id < vocabulary.end_id(); ++id) {
    const std::string_view bytes = vocabulary.bytes(id);
    for (std::size_t i = 1; i < bytes.size(); ++i) {
      const TokenId left = vocabulary.find(bytes.substr(0, i));
      if (left == kNoToken) continue;
      const TokenId right = vocabulary.find(bytes.substr(i));
      if (right != kNoToken) merges.push_back({left, right, static_cast<std::uint32_t>(id), id});
    }
  }
  return merges;
}

std::vector<Merge> read_merges(const BpeModel& model, const Vocabulary& vocabulary, ToBytes to_bytes) {
  if (!model.merges) return merges_by_id(vocabulary);
  std::vector<Merge> merges;
  merges.reserve(model.merges->size());
  // Most merges make the token after the one that the merge before makes: a guess that saves the search.
  TokenId next_result = 0;
  std::uint32_t rank = 0;
  for (const auto& [left_spelling, right_spelling] : *model.merges) {
    const std::optional<std::string> left = to_bytes(left_spelling);
    const std::optional<std::string> right = to_bytes(right_spelling);
    if (left && right) {
      const std::string both = *left + *right;
      const bool is_next = vocabulary.bytes(next_result) == both;
      const Merge merge{vocabulary.find(*left), vocabulary.find(*right), rank,
                        is_next ? next_result : vocabulary.find(both)};
      next_result = merge.result + 1;
      if (merge.left == kNoToken || merge.right == kNoToken || merge.result == kNoToken) {
        throw Error(ErrorKind::value, "merges[" + std::to_string(rank) + "]",
                    "of or into something that is no token");
      }
      merges.push_back(merge);
    }
    ++rank;
  }
  return merges;
}

// Bytes that no UTF-8 text has: a vocabulary may lack them.
constexpr bool is_utf8_byte(std::size_t byte) { return byte < 0xF5 && byte != 0xC0 && byte != 0xC1; }

}  // namespace

BpeTables read_byte_level(const BpeModel& model) {
  Vocabulary vocabulary = read_vocabulary(model, alphabet_to_bytes);
  std::array<TokenId, 256> byte_tokens;
  for (std::size_t byte = 0; byte < byte_tokens.size(); ++byte) {
    const char text = static_cast<char>(byte);
    byte_tokens[byte] = vocabulary.find({&text, 1});
    if (byte_tokens[byte] == kNoToken && is_utf8_byte(byte)) {
      throw Error(ErrorKind::value, "vocabulary", "no token for the byte " + std::to_string(byte));
    }
  }
  MergeTable merges(read_merges(model, vocabulary, alphabet_to_bytes));
  std::vector<std::uint32_t> byte_pair_ranks(1U << 16, MergeTable::kNoMerge);
  for (std::size_t pair = 0; pair < byte_pair_ranks.size(); ++pair) {
    const TokenId first = byte_tokens[pair >> 8];
    const TokenId second = byte_tokens[pair & 0xFF];
    if (first != kNoToken && second != kNoToken) byte_pair_ranks[pair] = merges.find(first, second);
  }
  return {std::move(vocabulary),      std::move(merges),   byte_tokens,
          std::move(byte_pair_ranks), model.ignore_merges, false};
}

BpeTables read_characters(const BpeModel& model) {
  // A text has no space once it is spelled with the symbol, so tokens with a space are out of reach.
  const ToBytes to_bytes = [](std::string_view spelling) -> std::optional<std::string> {
    if (spelling.find(' ') != std::string_view::npos) return std::nullopt;
    std::string bytes;
    for (std::size_t i = 0; i < spelling.size();) {
      const bool is_space = spelling.substr(i).starts_with(kSpaceSymbol);
      bytes += is_space ? ' ' : spelling[i];
      i += is_space ? kSpaceSymbol.size() : 1;
    }
    return bytes;
  };
  Vocabulary vocabulary = read_vocabulary(model, to_bytes);
  std::array<TokenId, 256> byte_tokens;
  for (std::size_t byte = 0; byte < byte_tokens.size(); ++byte) {
    char spelling[7];
    std::snprintf(spelling, sizeof spelling, "<0x%02X>", static_cast<unsigned>(byte));
    byte_tokens[byte] = vocabulary.find(spelling);
    if (byte_tokens[byte] == kNoToken)
      throw Error(ErrorKind::value, "vocabulary", "no token " + std::string(spelling));
  }
  if (vocabulary.find(" ") == kNoToken) throw Error(ErrorKind::value, "vocabulary", "no token U+2581");
  const std::vector<Merge> merges = read_merges(model, vocabulary, to_bytes);
  // Words are cut where no token spans two characters, which says nothing about the tokens of bytes.
  for (const Merge& merge : merges) {
    if (std::ranges::count(byte_tokens, merge.left) + std::ranges::count(byte_tokens, merge.right) != 0) {
      throw Error(ErrorKind::value, "merges", "a merge of the token of a byte");
    }
  }
  return {std::move(vocabulary), MergeTable(merges), byte_tokens, {}, model.ignore_merges, true};
}

}  // namespace turnloom
