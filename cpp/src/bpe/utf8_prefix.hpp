// Where bytes stop being UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace turnloom {

/// The beginning of some bytes.
struct Utf8Prefix {
  std::size_t n_valid;  ///< bytes of whole characters
  std::size_t
      n_partial;  ///< bytes after them that begin a character, or the one byte that does not; 0 at the end
  bool may_continue;  ///< the bytes end within a character that more of them may complete
};

/// Splits off the valid beginning of `bytes`. `n_partial` is what Unicode calls the maximal subpart of an
/// ill-formed sequence: what one U+FFFD stands for.
[[nodiscard]] Utf8Prefix utf8_prefix(std::string_view bytes) noexcept;

}  // namespace turnloom
