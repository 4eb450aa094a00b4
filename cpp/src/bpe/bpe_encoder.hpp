// The text encoder of byte-pair vocabularies.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bpe/bpe_tables.hpp"
#include "bpe/long_words.hpp"
#include "bpe/pretokenizer.hpp"
#include "bpe/token_borders.hpp"
#include "bpe/word_table.hpp"
#include "turnloom/tokenizer.hpp"

namespace turnloom {

class BpeEncoder final : public TextEncoder {
 public:
  /// Without a pattern a text is one word.
  BpeEncoder(BpeTables tables, std::optional<SplitPattern> split, bool nfc);
  void encode(std::span<const std::string_view> regions, EncodedRegions& out) const override;

 private:
  void seed();
  template <std::size_t kMaxBytes>
  void find_whole(std::size_t min_bytes);
  [[nodiscard]] bool needs_normalising(std::string_view region) const;

  BpeTables tables_;
  TokenBorders borders_;
  std::optional<SplitPattern> split_;
  bool nfc_;
  std::vector<bool> is_whole_;  ///< by id: merges make the token of its bytes
  // Only ever added to, and never to another result.
  mutable WordTable short_words_;
  mutable LongWords long_words_;
};

}  // namespace turnloom
