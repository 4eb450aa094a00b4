// DeepSeek V3: three patterns in turn, each splitting the parts that the one before left whole or matched.
//   \p{N}{1,3}
//   [一-龥぀-ゟ゠-ヿ]+
//   [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
//   ?[\p{P}\p{S}]+[\r\n]*|
//     \s*[\r\n]+|\s+(?!\S)|\s+
#pragma once

#include <cstddef>
#include <string_view>

#include "bpe/split_rules.hpp"
#include "utf8.hpp"

namespace turnloom::split_rules {

/// The characters of the second pattern: Chinese and Japanese, all of three bytes.
[[nodiscard]] inline bool is_deepseek_cjk(std::string_view text, std::size_t i) noexcept {
  const auto lead = static_cast<unsigned char>(text[i]);
  if (lead < 0xE3 || lead > 0xE9) return false;
  const char32_t c = decode_code_point(text, i).value;
  return (c >= 0x4E00 && c <= 0x9FA5) || (c >= 0x3040 && c <= 0x30FF);
}

/// The third pattern's text: a part that the first two made. It ends where numbers do, or where characters of
/// the second pattern begin (`cjk`: end).
template <bool cjk>
struct DeepSeekPart {
  std::string_view text;

  [[nodiscard]] ClassifiedCharacter at(std::size_t i) const noexcept {
    if (i >= text.size() || is_deepseek_cjk(text, i) != cjk) return {0, 0};
    const ClassifiedCharacter c = classify(text, i);
    return c.is(kNumber) ? ClassifiedCharacter{0, 0} : c;
  }
  [[nodiscard]] unsigned char byte_at(std::size_t i) const noexcept {
    return !cjk && i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  }
};

struct DeepSeekV3 {
  [[nodiscard]] static std::size_t token_end(std::string_view bytes, std::size_t begin) noexcept {
    if (classify(bytes, begin).is(kNumber)) return end_of_numbers(WholeText{bytes}, begin, 3);
    if (is_deepseek_cjk(bytes, begin)) return token_end(DeepSeekPart<true>{bytes}, begin);
    return token_end(DeepSeekPart<false>{bytes}, begin);
  }

 private:
  static constexpr unsigned kWord = kLetter | kMark;

  template <typename Part>
  [[nodiscard]] static std::size_t token_end(const Part& text, std::size_t begin) noexcept {
    const ClassifiedCharacter c = text.at(begin);
    const std::size_t next = begin + c.n_bytes;
    if (c.is(kWord)) return end_of(text, begin, kWord);
    if (c.is(kSymbol) && c.n_bytes == 1 && is_ascii_letter(text.byte_at(next))) {
      std::size_t end = next;
      while (is_ascii_letter(text.byte_at(end))) ++end;
      return end;
    }
    if (!c.is(kSymbol) && !is_newline(text.byte_at(begin)) && text.at(next).is(kWord)) {
      return end_of(text, next, kWord);
    }
    const std::size_t symbols = begin + (text.byte_at(begin) == ' ' ? 1 : 0);
    const std::size_t symbols_end = end_of(text, symbols, kSymbol);
    if (symbols_end != symbols) return end_of_newlines(text, symbols_end, false);
    if (c.is(kSpace)) return end_of_space(text, begin, true);
    return unmatched_end(text, next);
  }

  /// Characters that no alternative matches stay together, up to one that is the prefix of a word.
  template <typename Part>
  [[nodiscard]] static std::size_t unmatched_end(const Part& text, std::size_t end) noexcept {
    while (true) {
      const ClassifiedCharacter c = text.at(end);
      if (c.n_bytes == 0 || c.properties != 0) return end;
      if (text.at(end + c.n_bytes).is(kWord)) return end;
      end += c.n_bytes;
    }
  }

  [[nodiscard]] static bool is_ascii_letter(unsigned char byte) noexcept {
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
  }
};

}  // namespace turnloom::split_rules
