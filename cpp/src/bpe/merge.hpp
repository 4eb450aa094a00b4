// Merging the symbols of one word.
#pragma once

#include <cstdint>
#include <vector>

#include "bpe/merge_table.hpp"
#include "turnloom/types.hpp"

namespace turnloom {

/// A token and where its bytes end in the word.
struct Symbol {
  TokenId id;
  std::uint32_t end;
};

/// What merging needs beside the word, kept between words.
class Merger {
 public:
  /// Merges neighbours until none merge: the pair of the lowest rank first, of equal ones the leftmost.
  /// n log n in the number of symbols.
  void merge(const MergeTable& table, std::vector<Symbol>& symbols);

 private:
  struct Candidate {
    std::uint32_t rank;
    std::uint32_t left;  ///< index of the left symbol
  };
  struct Neighbours {
    std::uint32_t previous;
    std::uint32_t next;
  };

  void merge_short(const MergeTable& table, std::vector<Symbol>& symbols);
  void merge_long(const MergeTable& table, std::vector<Symbol>& symbols);

  std::vector<std::uint32_t> ranks_;
  std::vector<Candidate> queue_;
  std::vector<Neighbours> neighbours_;
};

}  // namespace turnloom
