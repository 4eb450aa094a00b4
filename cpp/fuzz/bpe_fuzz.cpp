// The encoder of vocabularies and texts made at random, against byte-pair encoding as it is told.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../tests/check.hpp"
#include "../tests/simple_split.hpp"
#include "bpe/nfc.hpp"
#include "bpe/pretokenizer.hpp"
#include "fuzzer.hpp"
#include "random_model.hpp"
#include "turnloom/bpe.hpp"

namespace turnloom {
namespace {

struct Token {
  TokenId id;
  std::size_t begin;
  std::size_t end;

  bool operator==(const Token&) const = default;
};

std::vector<Token> simple_tokens(const SimpleBpe& model, std::string_view text,
                                 std::span<const std::uint32_t> word_ends) {
  std::vector<Token> tokens;
  std::size_t begin = 0;
  for (const std::size_t word_end : word_ends) {
    for (const SimpleBpe::Symbol& symbol : model.encode_word(text.substr(begin, word_end - begin))) {
      tokens.push_back({symbol.id, begin, begin + symbol.bytes.size()});
      begin += symbol.bytes.size();
    }
  }
  return tokens;
}

// Where a text without the normaliser gives `tokens`, the offsets are those in the text before it.
void put_back(const NormalisedText& normalised, std::vector<Token>& tokens) {
  std::size_t chunk = 0;
  for (Token& token : tokens) {
    const auto [begin, end] = normalised.source_of(token.begin, token.end, chunk);
    token = {token.id, begin, end};
  }
}

// Twice: words that were not known the first time are known the second. With others: gaps are left and filled
// across the borders of regions.
void check(const TextEncoder& encoder, std::string_view text, const std::vector<Token>& expected) {
  for (const std::size_t n_regions : {1, 3}) {
    const std::vector<std::string_view> regions(n_regions, text);
    EncodedRegions encoded;
    encoder.encode(regions, encoded);
    CHECK(encoded.counts == std::vector<std::size_t>(n_regions, expected.size()));
    CHECK(encoded.ids.size() == n_regions * expected.size());
    for (std::size_t i = 0; i < encoded.ids.size(); ++i) {
      const Token found{encoded.ids[i], encoded.begins[i], encoded.ends[i]};
      CHECK(found == expected[i % expected.size()]);
    }
  }
}

void check_byte_level(Choices& choices) {
  const RandomModel model = random_byte_level(choices);
  const auto encoder = make_byte_level_encoder(model.file);
  const SplitPattern pattern = *split_pattern_of(model.file.split);
  while (!choices.none_left()) {
    const std::string text = random_text(choices, 200);
    NormalisedText normalised{text, {}};
    if (model.file.nfc) normalise(text, normalised);
    auto tokens = simple_tokens(model.simple, normalised.text, simple_split(pattern, normalised.text));
    if (normalised.text != text) put_back(normalised, tokens);
    check(*encoder, text, tokens);
  }
}

void check_characters(Choices& choices) {
  const RandomModel model = random_characters(choices);
  const auto encoder = make_character_encoder(model.file);
  while (!choices.none_left()) {
    const std::string text = random_text(choices, 200);
    // The symbol of a space is a space. Where the text has it, a token has three bytes for one.
    NormalisedText spaced;
    for (std::size_t i = 0; i < text.size();) {
      const bool is_symbol = text.compare(i, 3, "\u2581") == 0;
      const std::size_t end = i + (is_symbol ? 3 : 1);
      spaced.chunks.push_back({static_cast<std::uint32_t>(spaced.text.size()), static_cast<std::uint32_t>(i),
                               static_cast<std::uint32_t>(end), !is_symbol});
      spaced.text += is_symbol ? ' ' : text[i];
      i = end;
    }
    const auto end = static_cast<std::uint32_t>(spaced.text.size());
    auto tokens = simple_tokens(model.simple, spaced.text, {&end, 1});
    put_back(spaced, tokens);
    check(*encoder, text, tokens);
  }
}

void check_input(std::span<const std::uint8_t> input) {
  Choices choices(input);
  choices.below(4) != 0 ? check_byte_level(choices) : check_characters(choices);
}

}  // namespace
}  // namespace turnloom

int main(int argc, char** argv) { return turnloom::fuzz("bpe_fuzz", turnloom::check_input, argc, argv); }
