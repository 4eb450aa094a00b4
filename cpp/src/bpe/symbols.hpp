// What a word is before anything merges.
#pragma once

#include <cstddef>
#include <string_view>

#include "bpe/bpe_tables.hpp"
#include "utf8.hpp"

namespace turnloom {

/// Calls `add(id, end)` for the first symbols of a word: its bytes, or its characters where those are tokens.
template <typename Add>
void for_each_symbol(const BpeTables& tables, std::string_view word, Add add) {
  for (std::size_t i = 0; i < word.size();) {
    if (tables.by_characters) {
      const std::size_t end = i + decode_code_point(word, i).n_bytes;
      if (const TokenId id = tables.vocabulary.find(word.substr(i, end - i)); id != kNoToken) {
        add(id, end);
        i = end;
        continue;
      }
      for (; i < end; ++i) add(tables.byte_tokens[static_cast<unsigned char>(word[i])], i + 1);
    } else {
      add(tables.byte_tokens[static_cast<unsigned char>(word[i])], i + 1);
      ++i;
    }
  }
}

}  // namespace turnloom
