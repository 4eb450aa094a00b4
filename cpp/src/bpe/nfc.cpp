#include "bpe/nfc.hpp"

namespace turnloom {

bool is_nfc(std::string_view) { return true; }

NormalisedText::Span NormalisedText::source_of(std::size_t begin, std::size_t end,
                                               std::size_t& chunk) const noexcept {
  const auto next_begin = [&](std::size_t k) {
    return k + 1 < chunks.size() ? chunks[k + 1].begin : text.size();
  };
  while (next_begin(chunk) <= begin) ++chunk;
  std::size_t last = chunk;
  while (next_begin(last) < end) ++last;
  const Chunk& first_chunk = chunks[chunk];
  const Chunk& last_chunk = chunks[last];
  return {first_chunk.source_begin + (first_chunk.verbatim ? begin - first_chunk.begin : 0),
          last_chunk.verbatim ? last_chunk.source_begin + (end - last_chunk.begin) : last_chunk.source_end};
}

void normalise(std::string_view text, NormalisedText& out) {
  out.text = text;
  out.chunks.clear();
  if (!text.empty()) out.chunks.push_back({0, 0, static_cast<std::uint32_t>(text.size()), true});
}

}  // namespace turnloom
