// Byte-pair encoding as it is told, for the fast one to agree with.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "turnloom/types.hpp"

namespace turnloom {

struct SimpleBpe {
  std::map<std::string, TokenId, std::less<>> ids;  ///< by the bytes that a token stands for
  std::map<std::pair<TokenId, TokenId>, std::size_t> ranks;
  /// Of bytes of characters that are no tokens; words start as bytes if empty.
  std::map<char, TokenId> byte_ids;
  bool ignore_merges = false;

  struct Symbol {
    std::string bytes;
    TokenId id;
  };

  [[nodiscard]] std::vector<Symbol> encode_word(std::string_view word) const {
    const auto whole = ids.find(word);
    if (ignore_merges && whole != ids.end()) return {{std::string(word), whole->second}};
    std::vector<Symbol> symbols = first_symbols(word);
    while (const auto next = next_merge(symbols)) {
      Symbol& left = symbols[*next];
      left.bytes += symbols[*next + 1].bytes;
      left.id = ids.find(left.bytes)->second;
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(*next) + 1);
    }
    return symbols;
  }

 private:
  [[nodiscard]] std::vector<Symbol> first_symbols(std::string_view word) const {
    std::vector<Symbol> symbols;
    for (std::size_t begin = 0; begin < word.size();) {
      std::size_t end = begin + 1;
      if (!byte_ids.empty()) {
        while (end < word.size() && (static_cast<unsigned char>(word[end]) & 0xC0U) == 0x80U) ++end;
      }
      const std::string_view bytes = word.substr(begin, end - begin);
      if (const auto found = ids.find(bytes); found != ids.end()) {
        symbols.push_back({std::string(bytes), found->second});
      } else {
        for (const char byte : bytes) symbols.push_back({std::string(1, byte), byte_ids.at(byte)});
      }
      begin = end;
    }
    return symbols;
  }

  // Where the pair is that merges next: of the lowest rank, the leftmost.
  [[nodiscard]] std::optional<std::size_t> next_merge(const std::vector<Symbol>& symbols) const {
    std::optional<std::size_t> next;
    std::size_t lowest = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto merge = ranks.find({symbols[i].id, symbols[i + 1].id});
      if (merge == ranks.end()) continue;
      if (!next || merge->second < lowest) {
        lowest = merge->second;
        next = i;
      }
    }
    return next;
  }
};

}  // namespace turnloom
