#include "bpe/nfc.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "utf8.hpp"

namespace turnloom {
namespace {

/// What the quick check has to know of a character.
struct Kind {
  std::uint8_t combining_class;       ///< of the first character of its decomposition; 0 is a starter's
  std::uint8_t last_combining_class;  ///< of the last character of its decomposition
  bool composes_back;                 ///< that first character composes with some character before it
  std::uint8_t decomposition;         ///< 0 none, 1 composed again, 2 never composed again

  /// Nothing before it changes it or changes because of it.
  [[nodiscard]] bool is_boundary() const noexcept { return combining_class == 0 && !composes_back; }
};

struct Decomposition {
  char32_t character;
  std::uint32_t begin;
};

struct Composition {
  char32_t first;
  char32_t second;
  char32_t composed;
};

#include "bpe/nfc.inc"

constexpr char32_t kFirstL = 0x1100;
constexpr char32_t kFirstV = 0x1161;
constexpr char32_t kBeforeT = 0x11A7;
constexpr char32_t kFirstSyllable = 0xAC00;
constexpr std::uint32_t kCountL = 19;
constexpr std::uint32_t kCountV = 21;
constexpr std::uint32_t kCountT = 28;
constexpr std::uint32_t kCountSyllables = kCountL * kCountV * kCountT;

Kind kind_of(char32_t c) noexcept { return kKinds[kKindBlocks[kKindBlockNumbers[c >> 6]][c & 0x3F]]; }

/// The character that two compose to, or 0.
char32_t compose(char32_t first, char32_t second) noexcept {
  if (const char32_t l = first - kFirstL, v = second - kFirstV; l < kCountL && v < kCountV) {
    return kFirstSyllable + (l * kCountV + v) * kCountT;
  }
  if (const char32_t lv = first - kFirstSyllable, t = second - kBeforeT;
      lv < kCountSyllables && lv % kCountT == 0 && t - 1 < kCountT - 1) {
    return first + t;
  }
  const auto* const found =
      std::lower_bound(std::begin(kCompositions), std::end(kCompositions), Composition{first, second, 0},
                       [](const Composition& a, const Composition& b) {
                         return a.first != b.first ? a.first < b.first : a.second < b.second;
                       });
  const bool equal = found != std::end(kCompositions) && found->first == first && found->second == second;
  return equal ? found->composed : 0;
}

/// A part of a text from one boundary to the next.
struct Segment {
  std::size_t begin;
  std::size_t end;

  [[nodiscard]] std::string_view of(std::string_view text) const noexcept {
    return text.substr(begin, end - begin);
  }
};

/// Where ASCII ends that begins at `i`, or at most 7 bytes before.
std::size_t skip_ascii(std::string_view text, std::size_t i) noexcept {
  for (; text.size() - i >= 8; i += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + i, 8);
    if ((bytes & 0x8080808080808080U) != 0) break;
  }
  return i;
}

/// The first segment from the boundary `i` on that normalising may change; it is empty if there is none.
Segment next_suspect(std::string_view text, std::size_t i) noexcept {
  Segment segment{i, i};
  bool suspect = false;
  bool has_starter = false;
  std::size_t starter = 0;      // where the last one begins
  bool after_starter = false;   // no mark since
  std::uint8_t last_class = 0;  // of what the last character decomposes to
  while (i < text.size()) {
    const bool ascii = static_cast<unsigned char>(text[i]) < 0x80;
    const CodePoint c = decode_code_point(text, i);
    const Kind kind = ascii ? Kind{} : kind_of(c.value);
    if (kind.is_boundary()) {
      if (suspect) return {segment.begin, i};
      if (ascii) {
        const std::size_t rest = skip_ascii(text, i);
        if (rest != i) i = rest - 1;
      }
      segment.begin = i;
    }
    suspect = suspect || kind.decomposition == 2 ||
              (kind.combining_class != 0 && kind.combining_class < last_class) ||
              (kind.composes_back && has_starter && (after_starter || last_class < kind.combining_class) &&
               compose(decode_code_point(text, starter).value, c.value) != 0);
    if (kind.combining_class == 0) {
      has_starter = true;
      starter = i;
    }
    after_starter = kind.combining_class == 0;
    last_class = kind.last_combining_class;
    i += c.n_bytes;
  }
  return {suspect ? segment.begin : i, i};
}

/// Normalises segments; keeps its memory from one to the next.
class SegmentNormaliser {
 public:
  /// A character of the result. Its `change` says which characters of the source it stands for, as the
  /// package counts them: 1 the same as the character before, 0 the next one, -n the next one and n more.
  struct Part {
    char32_t character;
    std::uint8_t combining_class;
    std::int32_t change;
  };

  /// The normalised characters of a segment; valid until the next call.
  const std::vector<Part>& normalise(std::string_view segment) {
    parts_.clear();
    sorted_ = 0;
    for (std::size_t i = 0; i < segment.size();) {
      const CodePoint c = decode_code_point(segment, i);
      decompose(c.value);
      i += c.n_bytes;
    }
    sort_marks();
    compose_parts();
    return parts_;
  }

 private:
  void decompose(char32_t c) {
    if (const char32_t syllable = c - kFirstSyllable; syllable < kCountSyllables) {
      push(kFirstL + syllable / (kCountV * kCountT), 0);
      push(kFirstV + syllable % (kCountV * kCountT) / kCountT, 1);
      if (syllable % kCountT != 0) push(kBeforeT + syllable % kCountT, 1);
      return;
    }
    if (kind_of(c).decomposition == 0) return push(c, 0);
    const auto* const found =
        std::lower_bound(std::begin(kDecompositions), std::end(kDecompositions), c,
                         [](const Decomposition& a, char32_t b) { return a.character < b; });
    for (std::uint32_t i = found->begin; i < found[1].begin; ++i)
      push(kDecomposed[i], i == found->begin ? 0 : 1);
  }

  void push(char32_t c, std::int32_t change) {
    const Kind kind = kind_of(c);
    if (kind.combining_class == 0) sort_marks();
    parts_.push_back({c, kind.combining_class, change});
  }

  /// Sorts the marks since the last starter by their classes.
  void sort_marks() {
    const auto first_lower = [](const Part& a, const Part& b) {
      return a.combining_class < b.combining_class;
    };
    const auto begin = parts_.begin() + sorted_;
    if (!std::is_sorted(begin, parts_.end(), first_lower)) std::stable_sort(begin, parts_.end(), first_lower);
    sorted_ = std::ssize(parts_);
  }

  void compose_parts() {
    std::size_t size = 0;
    Part* starter = nullptr;
    for (const Part part : parts_) {
      if (starter != nullptr) {
        const Part& last = parts_[size - 1];
        const bool blocked = &last != starter && last.combining_class >= part.combining_class;
        if (const char32_t composed = blocked ? 0 : compose(starter->character, part.character);
            composed != 0) {
          starter->character = composed;
          starter->change += part.change - 1;
          continue;
        }
      }
      parts_[size] = part;
      if (part.combining_class == 0) starter = &parts_[size];
      ++size;
    }
    parts_.resize(size);
  }

  std::vector<Part> parts_;
  std::ptrdiff_t sorted_ = 0;  ///< the parts before are in their final order
};

bool spells(const std::vector<SegmentNormaliser::Part>& parts, std::string_view text) noexcept {
  std::size_t i = 0;
  for (const SegmentNormaliser::Part& part : parts) {
    if (i == text.size()) return false;
    const CodePoint c = decode_code_point(text, i);
    if (c.value != part.character) return false;
    i += c.n_bytes;
  }
  return i == text.size();
}

void append_utf8(char32_t c, std::string& out) {
  const auto byte = [](char32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
  const auto tail = [&](unsigned shift) { return byte(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    out += byte(c);
  } else if (c < 0x800) {
    out += {byte(0xC0 | c >> 6), tail(0)};
  } else if (c < 0x10000) {
    out += {byte(0xE0 | c >> 12), tail(6), tail(0)};
  } else {
    out += {byte(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
  }
}

void append_chunk(NormalisedText& out, std::string_view source, std::size_t begin, std::size_t end) {
  if (begin == end) return;
  const bool continues =
      !out.chunks.empty() && out.chunks.back().verbatim && out.chunks.back().source_end == begin;
  if (continues) {
    out.chunks.back().source_end = static_cast<std::uint32_t>(end);
  } else {
    out.chunks.push_back({static_cast<std::uint32_t>(out.text.size()), static_cast<std::uint32_t>(begin),
                          static_cast<std::uint32_t>(end), true});
  }
  out.text += source.substr(begin, end - begin);
}

/// Appends a segment's result, which stands for the source's characters in their order.
void append_parts(NormalisedText& out, std::string_view source, Segment segment,
                  const std::vector<SegmentNormaliser::Part>& parts) {
  std::size_t last = segment.begin;
  std::size_t end = segment.begin;
  for (const SegmentNormaliser::Part& part : parts) {
    const std::size_t begin = part.change > 0 ? last : end;
    for (std::int32_t change = part.change; change <= 0; ++change) {
      last = end;
      end += decode_code_point(source, end).n_bytes;
    }
    if (part.change > 0 && out.chunks.back().source_begin < begin) {
      out.chunks.back().source_end = static_cast<std::uint32_t>(begin);
    }
    if (part.change == 0 && decode_code_point(source, begin).value == part.character) {
      append_chunk(out, source, begin, end);
      continue;
    }
    out.chunks.push_back({static_cast<std::uint32_t>(out.text.size()), static_cast<std::uint32_t>(begin),
                          static_cast<std::uint32_t>(end), false});
    append_utf8(part.character, out.text);
  }
}

}  // namespace

bool is_nfc(std::string_view text) {
  SegmentNormaliser normaliser;
  for (std::size_t i = 0; i < text.size();) {
    const Segment segment = next_suspect(text, i);
    if (segment.begin != segment.end && !spells(normaliser.normalise(segment.of(text)), segment.of(text))) {
      return false;
    }
    i = segment.end;
  }
  return true;
}

void normalise(std::string_view text, NormalisedText& out) {
  out.text.clear();
  out.chunks.clear();
  SegmentNormaliser normaliser;
  for (std::size_t i = 0; i < text.size();) {
    const Segment segment = next_suspect(text, i);
    append_chunk(out, text, i, segment.begin);
    append_parts(out, text, segment, normaliser.normalise(segment.of(text)));
    i = segment.end;
  }
}

NormalisedText::Span NormalisedText::source_of(std::size_t begin, std::size_t end,
                                               std::size_t& chunk) const noexcept {
  const auto chunk_end = [&](std::size_t k) {
    return k + 1 < chunks.size() ? std::size_t{chunks[k + 1].begin} : text.size();
  };
  while (chunk_end(chunk) <= begin) ++chunk;
  std::size_t last = chunk;
  while (chunk_end(last) < end) ++last;
  const Chunk& first_chunk = chunks[chunk];
  const Chunk& last_chunk = chunks[last];
  return {first_chunk.source_begin + (first_chunk.verbatim ? begin - first_chunk.begin : 0),
          last_chunk.verbatim ? last_chunk.source_begin + (end - last_chunk.begin) : last_chunk.source_end};
}

}  // namespace turnloom
