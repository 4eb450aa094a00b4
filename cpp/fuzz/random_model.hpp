// Vocabularies and texts made of the bytes of an input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../tests/simple_bpe.hpp"
#include "bpe/byte_alphabet.hpp"
#include "turnloom/bpe.hpp"

namespace turnloom {

/// Choices that the bytes of an input make; 0 at its end.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool none_left() const { return bytes_.empty(); }
  std::size_t below(std::size_t n) {
    if (bytes_.empty()) return 0;
    const std::size_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte % n;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

/// Few characters, so that pairs are met again: of every length and of all kinds that patterns tell apart,
/// with marks and what composes with them.
using namespace std::string_view_literals;
inline constexpr std::string_view kCharacters[] = {
    "a",      "b",       "C",      " ",      "1",      "\n",     ".",          "'s",
    "\u00e9", "e\u0301", "\u0323", "\u4e2d", "\u6587", "\u3042", "\u0e01",     "/",
    "\u00a0", "\u2581",  "\u00c9", "\u0966", "\u2014", "\0"sv,   "\U0001F999", "\t"};

inline std::string random_text(Choices& choices, std::size_t max_bytes) {
  std::string text;
  const std::size_t n = 1 + choices.below(max_bytes);
  while (text.size() < n) {
    const std::string_view character = kCharacters[choices.below(std::size(kCharacters))];
    // Runs reach the words that are too long for the tables.
    for (std::size_t repeats = choices.below(16) == 0 ? 1 + choices.below(100) : 1; repeats > 0; --repeats)
      text += character;
  }
  return text;
}

/// The same vocabulary for the core and, plainly, for comparing.
struct RandomModel {
  SimpleBpe simple;
  BpeModel file;  ///< of strings in `spellings`
  std::deque<std::string> spellings;

  std::string_view spell(std::string spelling) { return spellings.emplace_back(std::move(spelling)); }
};

/// Merges tokens, of those and of what was merged before. Of the same two the last counts.
inline std::vector<std::pair<std::string, std::string>> add_merges(Choices& choices, SimpleBpe& model,
                                                                   std::vector<std::string> tokens) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (std::size_t n = choices.below(80); n > 0; --n) {
    const std::string left = tokens[tokens.size() - 1 - choices.below(tokens.size())];
    const std::string right = tokens[tokens.size() - 1 - choices.below(tokens.size())];
    if (left.size() + right.size() > 120) continue;
    merges.emplace_back(left, right);
    tokens.push_back(left + right);
  }
  if (choices.below(2) == 1 && merges.size() > 1) std::swap(merges.front(), merges.back());
  for (const std::string& token : tokens) model.ids.emplace(token, static_cast<TokenId>(model.ids.size()));
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    model.ranks[{model.ids.at(merges[rank].first), model.ids.at(merges[rank].second)}] = rank;
  }
  return merges;
}

/// Lets every two tokens merge that make a token, those of the lowest id first.
inline void rank_by_id(SimpleBpe& model) {
  model.ranks.clear();
  for (const auto& [bytes, id] : model.ids) {
    for (std::size_t i = 1; i < bytes.size(); ++i) {
      const auto left = model.ids.find(bytes.substr(0, i));
      const auto right = model.ids.find(bytes.substr(i));
      if (left == model.ids.end() || right == model.ids.end()) continue;
      model.ranks[{left->second, right->second}] = static_cast<std::size_t>(id);
    }
  }
}

/// Byte-level; its merges are listed or, as in a file of ranks, those of every two tokens that make one.
inline RandomModel random_byte_level(Choices& choices) {
  static constexpr std::string_view kSplits[] = {"gpt2",  "cl100k", "qwen2", "qwen3_5",
                                                 "o200k", "tekken", "kimi",  "deepseek_v3"};
  RandomModel model;
  model.file.split = kSplits[choices.below(std::size(kSplits))];
  model.file.nfc = choices.below(4) == 0;
  model.simple.ignore_merges = model.file.ignore_merges = choices.below(2) == 1;
  const bool ranks = choices.below(4) == 0;
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  tokens.emplace_back("\u4e2d", 2);  // part of a character
  for (const std::string_view text : kCharacters) {
    if (text.size() > 1) tokens.emplace_back(text);
  }
  const auto merges = add_merges(choices, model.simple, tokens);
  for (const auto& [bytes, id] : model.simple.ids) {
    model.file.tokens.emplace_back(model.spell(bytes_to_alphabet(bytes)), id);
  }
  if (ranks) {
    rank_by_id(model.simple);
    return model;
  }
  model.file.merges.emplace();
  for (const auto& [left, right] : merges) {
    const std::string_view spelled_left = model.spell(bytes_to_alphabet(left));
    model.file.merges->emplace_back(spelled_left, model.spell(bytes_to_alphabet(right)));
  }
  return model;
}

/// Characters, and bytes for those that it lacks; U+2581 spells a space.
inline RandomModel random_characters(Choices& choices) {
  RandomModel model;
  model.simple.ignore_merges = model.file.ignore_merges = choices.below(2) == 1;
  std::vector<std::string> tokens;
  for (const std::string_view text : {"a", "b", " ", "1", "\n", ".", "\u00e9", "\u4e2d", "\u6587", "\u0e01"})
    tokens.emplace_back(text);
  const auto merges = add_merges(choices, model.simple, tokens);
  const auto spell = [&](std::string_view bytes) {
    std::string spelling;
    for (const char byte : bytes) byte == ' ' ? spelling += "\u2581" : spelling += byte;
    return model.spell(std::move(spelling));
  };
  for (const auto& [bytes, id] : model.simple.ids) model.file.tokens.emplace_back(spell(bytes), id);
  model.file.merges.emplace();
  for (const auto& [left, right] : merges) {
    const std::string_view spelled_left = spell(left);
    model.file.merges->emplace_back(spelled_left, spell(right));
  }
  for (int byte = 0; byte < 256; ++byte) {
    char spelling[7];
    std::snprintf(spelling, sizeof spelling, "<0x%02X>", static_cast<unsigned>(byte));
    const auto id = static_cast<TokenId>(model.file.tokens.size());
    model.file.tokens.emplace_back(model.spell(spelling), id);
    model.simple.byte_ids[static_cast<char>(byte)] = id;
  }
  return model;
}

}  // namespace turnloom
