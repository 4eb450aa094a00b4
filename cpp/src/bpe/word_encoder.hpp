// Encoding the words of a text, many at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bpe/bpe_tables.hpp"
#include "bpe/long_words.hpp"
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
  WordTable& short_words;
  LongWords& long_words;
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

  struct Word {
    WordKey key;  ///< if it is short
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
  [[nodiscard]] bool look_up_long(std::size_t word);
  [[nodiscard]] bool may_be(std::size_t word, TokenId id) const;
  void keep_symbols(std::size_t word, std::span<const Symbol> symbols);
  void merge_missed();
  template <std::size_t kMaxBytes>
  void merge_words(std::span<const std::uint16_t> words, std::array<ShortMerger<kMaxBytes>, kLanes>& mergers);
  template <std::size_t kMaxBytes>
  void finish_merging(std::size_t word, const ShortMerger<kMaxBytes>& merger);
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
  WordTable::Tokens tokens_[kBlock];
  Range symbol_ranges_[kBlock];
  std::vector<Symbol> symbols_;
  std::size_t n_missed_ = 0;
  std::uint16_t missed_[kBlock];
  std::array<ShortMerger<16>, kLanes> mergers_;
  std::array<ShortMerger<64>, kLanes> medium_mergers_;
};

}  // namespace turnloom
