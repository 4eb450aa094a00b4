// Matching the added tokens of a vocabulary in text, as the `tokenizers` package does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "turnloom/tokenizer.hpp"

namespace turnloom {

/// A byte trie over token spellings.
class TokenTrie {
 public:
  TokenTrie();
  void insert(std::string_view text, std::size_t token_index);
  [[nodiscard]] bool empty() const noexcept { return nodes_.size() == 1; }
  /// The first position from `begin` on where a token can start, or the end of the text.
  [[nodiscard]] std::size_t find_start(std::string_view text, std::size_t begin) const noexcept;

  /// Calls `visit(end, token_index)` for every token that starts at `begin`, shortest first.
  template <typename Visit>
  void visit_matches(std::string_view text, std::size_t begin, Visit visit) const {
    std::uint32_t node = first_[static_cast<unsigned char>(text[begin])];
    for (std::size_t i = begin; node != 0;) {
      if (nodes_[node].token != kNone) visit(i + 1, nodes_[node].token);
      if (++i == text.size()) return;
      node = child(node, static_cast<unsigned char>(text[i]));
    }
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Node {
    std::vector<std::pair<unsigned char, std::uint32_t>> children;  ///< sorted by byte
    std::size_t token = kNone;
  };
  /// 0, the root, stands for none: it is no one's child.
  [[nodiscard]] std::uint32_t child(std::uint32_t node, unsigned char byte) const;

  std::vector<Node> nodes_;
  std::array<std::uint32_t, 256> first_{};  ///< the children of the root by byte
  std::string start_bytes_;
};

/// The tokens of a vocabulary by spelling and by id.
class AddedTokenMatcher {
 public:
  explicit AddedTokenMatcher(const std::vector<AddedToken>& tokens);

  [[nodiscard]] const AddedToken* find(std::string_view content) const;
  [[nodiscard]] const AddedToken* find(TokenId id) const;
  [[nodiscard]] const AddedToken& token(std::size_t index) const { return tokens_[index]; }
  /// Whether the text has a byte that a token starts with.
  [[nodiscard]] bool may_match(std::string_view text) const noexcept {
    return verbatim_.find_start(text, 0) < text.size() || normalized_.find_start(text, 0) < text.size();
  }
  /// Tokens that are matched on the text as it is, and those matched on what these leave.
  [[nodiscard]] const TokenTrie& verbatim() const noexcept { return verbatim_; }
  [[nodiscard]] const TokenTrie& normalized() const noexcept { return normalized_; }

 private:
  const std::vector<AddedToken>& tokens_;
  TokenTrie verbatim_;
  TokenTrie normalized_;
  std::vector<std::pair<std::string_view, std::size_t>> by_content_;  ///< sorted
  std::vector<std::pair<TokenId, std::size_t>> by_id_;                ///< sorted
};

}  // namespace turnloom
