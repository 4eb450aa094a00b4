#include "added_tokens.hpp"

#include <algorithm>
#include <string>

#include "turnloom/error.hpp"

namespace turnloom {

TokenTrie::TokenTrie() : nodes_(1) {}

void TokenTrie::insert(std::string_view text, std::size_t token_index) {
  std::uint32_t node = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (const std::uint32_t next = child(node, byte); next != 0) {
      node = next;
      continue;
    }
    const auto added = static_cast<std::uint32_t>(nodes_.size());
    auto& children = nodes_[node].children;
    children.insert(
        std::ranges::upper_bound(children, byte, {}, &std::pair<unsigned char, std::uint32_t>::first),
        {byte, added});
    nodes_.emplace_back();
    node = added;
  }
  nodes_[node].token = token_index;
  std::uint32_t& first = first_[static_cast<unsigned char>(text.front())];
  if (first == 0) start_bytes_ += text.front();
  first = child(0, static_cast<unsigned char>(text.front()));
}

// In most vocabularies all tokens start with the same byte, which the library finds many at a time.
std::size_t TokenTrie::find_start(std::string_view text, std::size_t begin) const noexcept {
  if (start_bytes_.empty()) return text.size();
  if (start_bytes_.size() == 1) return std::min(text.find(start_bytes_.front(), begin), text.size());
  while (begin < text.size() && first_[static_cast<unsigned char>(text[begin])] == 0) ++begin;
  return begin;
}

std::uint32_t TokenTrie::child(std::uint32_t node, unsigned char byte) const {
  const auto& children = nodes_[node].children;
  const auto it =
      std::ranges::lower_bound(children, byte, {}, &std::pair<unsigned char, std::uint32_t>::first);
  return it != children.end() && it->first == byte ? it->second : 0;
}

AddedTokenMatcher::AddedTokenMatcher(const std::vector<AddedToken>& tokens) : tokens_(tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const AddedToken& token = tokens[i];
    if (token.content.empty())
      throw Error(ErrorKind::value, "added_tokens[" + std::to_string(i) + "]", "has no text");
    (token.normalized ? normalized_ : verbatim_).insert(token.content, i);
    by_content_.emplace_back(token.content, i);
    by_id_.emplace_back(token.id, i);
  }
  std::ranges::sort(by_content_);
  std::ranges::sort(by_id_);
}

const AddedToken* AddedTokenMatcher::find(std::string_view content) const {
  const auto it =
      std::ranges::lower_bound(by_content_, content, {}, &std::pair<std::string_view, std::size_t>::first);
  return it != by_content_.end() && it->first == content ? &tokens_[it->second] : nullptr;
}

const AddedToken* AddedTokenMatcher::find(TokenId id) const {
  const auto it = std::ranges::lower_bound(by_id_, id, {}, &std::pair<TokenId, std::size_t>::first);
  return it != by_id_.end() && it->first == id ? &tokens_[it->second] : nullptr;
}

}  // namespace turnloom
