// Unicode normalisation form C, as the normalizer NFC of the `tokenizers` package gives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace turnloom {

/// Whether normalising the text would give the text itself. Cheap on text that it can tell by its characters
/// and their combining classes, which is almost any; the rest is normalised to see. The text must be valid
/// UTF-8.
[[nodiscard]] bool is_nfc(std::string_view text);

/// A text in NFC that knows where each of its bytes comes from.
struct NormalisedText {
  /// A part of `text`, up to the next chunk.
  struct Chunk {
    std::uint32_t begin;
    std::uint32_t source_begin;
    std::uint32_t source_end;
    bool verbatim;  ///< equal to its source, byte by byte; else one character
  };
  struct Span {
    std::size_t begin;
    std::size_t end;
  };

  std::string text;
  std::vector<Chunk> chunks;  ///< tile `text`; none of them is empty

  /// The bytes of the source that the bytes [begin, end) of `text`, not empty, come from: their own where
  /// they are verbatim, else all of the characters that were composed, split or moved. `chunk` is where the
  /// search begins, 0 at first; it is left at the chunk of `begin`, so that spans asked for in order cost
  /// linear time.
  [[nodiscard]] Span source_of(std::size_t begin, std::size_t end, std::size_t& chunk) const noexcept;
};

/// Replaces `out`. The text must be valid UTF-8 of less than 1 GiB.
void normalise(std::string_view text, NormalisedText& out);

}  // namespace turnloom
