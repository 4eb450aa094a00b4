// What merging needs to know about a vocabulary, read from the spellings of its file.
#pragma once

#include <array>

#include "bpe/merge_table.hpp"
#include "bpe/vocabulary.hpp"
#include "turnloom/bpe.hpp"

namespace turnloom {

struct BpeTables {
  Vocabulary vocabulary;  ///< by the bytes that a token stands for in a text
  MergeTable merges;
  std::array<TokenId, 256> byte_tokens;        ///< kNoToken for bytes that UTF-8 does not have
  std::vector<std::uint32_t> byte_pair_ranks;  ///< of the tokens of two bytes, at `first << 8 | second`
  bool ignore_merges;
  bool by_characters;  ///< words start as characters, and as bytes only where those are no tokens
};

[[nodiscard]] BpeTables read_byte_level(const BpeModel& model);
/// A space stands for U+2581 in the vocabulary, so that a text needs no rewriting.
[[nodiscard]] BpeTables read_characters(const BpeModel& model);

}  // namespace turnloom
