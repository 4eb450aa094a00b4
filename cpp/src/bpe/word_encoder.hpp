// Encoding the words of a text, many at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bpe/bpe_tables.hpp"
#include "bpe/merge.hpp"
#include "bpe/token_borders.hpp"
#include "bpe/word_table.hpp"
#include "turnloom/tokenizer.hpp"

namespace turnloom {

/// What the encoders of all threads share.
struct SharedWords {
  const BpeTables& tables;
  const TokenBorders& borders;
  const std::vector<bool>& is_whole;  ///< by id: merging the bytes of the token makes it
  WordTable<2>& short_words;
  WordTable<4>& medium_words;
};

/// For one thread. Kept between texts for its memory.
class WordEncoder {
 public:
  WordEncoder(const SharedWords& shared, EncodedRegions& out) : shared_(shared), out_(out) {}

  /// Appends the tokens of the words that end at `ends` and tile the text.
  void encode(std::string_view text, std::span<const std::uint32_t> ends);

  /// Appends the tokens of a text that is one word.
  void encode_word(std::string_view text);

 private:
  static constexpr std::size_t kBlock = 512;  ///< words that are merged together, so that no lane is idle
  static constexpr std::size_t kAhead = 64;   ///< words whose slots are on their way to the cache
  static constexpr std::size_t kLanes = 8;
  using ShortTokens = WordTable<2>::Tokens;
  using MediumTokens = WordTable<4>::Tokens;

  struct Word {
    WordKey<2> key;  ///< if it is short
    std::uint32_t begin;
    std::uint32_t n_bytes;
    std::uint32_t slot;
    bool is_part;  ///< of a longer word
  };
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  void add_long(std::size_t begin, std::size_t end);
  void add(std::size_t begin, std::size_t end, bool is_part);
  void add_short(std::size_t begin, std::size_t n_bytes, bool is_part);
  [[nodiscard]] Word& new_word();
  void look_up_added();
  void finish_block();
  [[nodiscard]] bool look_up(std::size_t word);
  [[nodiscard]] bool look_up_medium(std::size_t word);
  [[nodiscard]] bool look_up_long(std::size_t word);
  [[nodiscard]] bool may_be(std::size_t word, TokenId id) const;
  void merge_missed();
  void finish_merging(std::size_t word, const ShortMerger& merger);
  void write_tokens();

  [[nodiscard]] std::string_view bytes_of(std::size_t word) const {
    return text_.substr(words_[word].begin, words_[word].n_bytes);
  }

  SharedWords shared_;
  EncodedRegions& out_;
  std::string_view text_;
  std::vector<std::uint32_t> part_ends_;
  LongMerger long_merger_;

  // The words of a block and their tokens; of a word with more than there is room for, in symbols_.
  std::size_t n_words_ = 0;
  std::size_t n_looked_up_ = 0;
  Word words_[kBlock];
  ShortTokens tokens_[kBlock];
  Range symbol_ranges_[kBlock];
  std::vector<Symbol> symbols_;
  std::size_t n_missed_ = 0;
  std::uint16_t missed_[kBlock];
  ShortMerger mergers_[kLanes];
};

}  // namespace turnloom
