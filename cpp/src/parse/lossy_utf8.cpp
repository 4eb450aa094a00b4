#include "parse/lossy_utf8.hpp"

#include "bpe/utf8_prefix.hpp"

namespace turnloom {

std::size_t append_lossy(std::string_view bytes, std::string& out) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto [n_valid, n_partial, may_continue] = utf8_prefix(bytes.substr(at));
    out += bytes.substr(at, n_valid);
    at += n_valid;
    if (may_continue) break;
    if (n_partial > 0) out += kReplacement;
    at += n_partial;
  }
  return at;
}

bool is_utf8(std::string_view bytes) noexcept { return utf8_prefix(bytes).n_valid == bytes.size(); }

}  // namespace turnloom
