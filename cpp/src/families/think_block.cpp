#include "families/think_block.hpp"

#include <cstddef>

#include "text.hpp"

namespace turnloom {

ThinkBlock split_think_block(std::string_view text) noexcept {
  const std::size_t first_close = text.find(kThinkClose);
  if (first_close == std::string_view::npos) return {{}, text};
  std::string_view reasoning = rstrip_newlines(text.substr(0, first_close));
  if (const auto open = reasoning.rfind(kThinkOpen); open != std::string_view::npos) {
    reasoning.remove_prefix(open + kThinkOpen.size());
  }
  const std::size_t last_close = text.rfind(kThinkClose);
  return {lstrip_newlines(reasoning), lstrip_newlines(text.substr(last_close + kThinkClose.size()))};
}

bool think_block_loses_text(std::string_view text) noexcept {
  const std::size_t first_close = text.find(kThinkClose);
  if (first_close == std::string_view::npos) return false;
  if (text.rfind(kThinkClose) != first_close) return true;
  const std::size_t open = text.substr(0, first_close).rfind(kThinkOpen);
  return open != std::string_view::npos && !strip(text.substr(0, open)).empty();
}

}  // namespace turnloom
