// Encoding the words of texts, many at a time.
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

/// Writes the tokens of words that are known as it meets them. The others leave gaps, which are filled when
/// there are enough of them to merge side by side. For one thread and one call.
class WordEncoder {
 public:
  /// Replaces `out`, which is complete after `finish`.
  WordEncoder(const SharedWords& shared, EncodedRegions& out) : shared_(shared), out_(out) { out.clear(); }

  /// Makes room for the tokens of so many bytes, if they are of the usual length.
  void reserve(std::size_t n_bytes);
  /// Appends the tokens of a region, whose words end at `ends`.
  void encode(std::string_view text, std::span<const std::uint32_t> ends);
  /// Appends the tokens of a region that is one word.
  void encode_word(std::string_view text);
  /// Fills the gaps that are left; the texts of the regions since the last time have to be there.
  void fill_gaps();
  /// Completes `out`.
  void finish();
  /// How many tokens there are so far, without those of gaps.
  [[nodiscard]] std::size_t n_tokens() const noexcept { return n_tokens_; }

 private:
  static constexpr std::size_t kAhead = 64;
  static constexpr std::size_t kMaxGaps = 128;

  struct Word {
    std::uint32_t begin;
    std::uint32_t n_bytes;
    bool is_part;  // of a longer word
  };
  // A short word on its way to `write_known`, or any other, which has no slot but `n_bytes` and `is_part`.
  struct Queued {
    WordKey key;
    std::uint32_t begin;
    std::uint32_t slot;
  };
  static constexpr std::uint32_t kNoSlot = UINT32_MAX;

  struct Gap {
    WordKey key;
    const char* bytes;
    std::uint32_t begin;
    std::uint32_t n_bytes;
    std::size_t region;
    std::size_t at;    // tokens before it, without those of gaps
    std::size_t like;  // the first gap with the same word
    std::size_t n_symbols;
    std::array<Symbol, 64> symbols;
  };

  // Words of one region in order, whose slots are on their way to the cache.
  struct Queue {
    std::size_t n = 0;
    std::array<Queued, kAhead> words;
  };

  void add_short(Queue& queue, const WordKey& key, std::size_t begin);
  void add_long(Queue& queue, std::size_t begin, std::size_t n_bytes);
  void add_other(Queue& queue, const Word& word);
  void write_all(Queue& queue);
  [[nodiscard]] std::size_t write_known(std::span<const Queued> words);
  [[nodiscard]] WordKey key_of(const Word& word) const;
  [[nodiscard]] static Word word_of(const Queued& queued);
  void write_other(const Word& word);
  [[nodiscard]] std::span<const Symbol> find_long(const Word& word) const;
  [[nodiscard]] bool may_be(const Word& word, TokenId id) const;
  void make_room(std::size_t n_tokens);
  void write(const Word& word, std::span<const Symbol> symbols);
  void leave_gap(const Word& word);

  [[nodiscard]] static bool is_like(const Gap& one, const Gap& other);
  template <std::size_t kMaxBytes>
  void merge_gaps(std::size_t n_bytes);
  template <std::size_t kMaxBytes>
  void keep(const ShortMerger<kMaxBytes>& merger, Gap& gap);

  const SharedWords shared_;
  EncodedRegions& out_;
  std::size_t n_tokens_ = 0;  // in out_, whose columns are longer
  std::size_t region_begin_ = 0;
  std::string_view text_;
  std::vector<std::uint32_t> part_ends_;
  LongMerger long_merger_;
  std::size_t n_gaps_ = 0;
  std::array<std::uint8_t, 256> recent_gaps_{};  // by a hash of the word, to find one like it
  std::array<Gap, kMaxGaps> gaps_;
};

}  // namespace turnloom
