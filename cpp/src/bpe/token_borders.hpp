// Where no token can reach across.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bpe/vocabulary.hpp"

namespace turnloom {

/// Which characters stand side by side in some token. Where two never do, nothing merges across: a long word
/// is cut there, and what is left of it are short words that repeat. Immutable.
class TokenBorders {
 public:
  explicit TokenBorders(const Vocabulary& vocabulary);

  /// Appends the ends, plus `offset`, of the parts of a word that no token joins, the end of the word
  /// included.
  void cut(std::string_view word, std::size_t offset, std::vector<std::uint32_t>& ends) const;

 private:
  void add(std::string_view token);

  std::vector<std::uint64_t> joined_;     ///< a bit for each hash of two characters
  std::vector<std::uint64_t> fragments_;  ///< of the last byte of a character and the first of the next, in
                                          ///< tokens that have but a part of one of them
};

}  // namespace turnloom
