// The split patterns one pre-token at a time: plain, for any text. Each struct of rules has a static member
// `token_end(text, begin)`, where the pre-token that begins there ends.
#pragma once

#include <cstddef>
#include <string_view>

#include "bpe/unicode_classes.hpp"

namespace turnloom::split_rules {

using namespace character_class;

/// A text of which a character past the end has no bytes.
struct WholeText {
  std::string_view text;

  [[nodiscard]] ClassifiedCharacter at(std::size_t i) const noexcept {
    return i < text.size() ? classify(text, i) : ClassifiedCharacter{0, 0};
  }
  [[nodiscard]] unsigned char byte_at(std::size_t i) const noexcept {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  }
};

[[nodiscard]] constexpr bool is_newline(unsigned char byte) noexcept { return byte == '\n' || byte == '\r'; }

/// Where the run of characters that have one of these properties ends.
template <typename Text>
[[nodiscard]] std::size_t end_of(const Text& text, std::size_t i, unsigned any_of) noexcept {
  for (ClassifiedCharacter c = text.at(i); c.is(any_of); c = text.at(i)) i += c.n_bytes;
  return i;
}

/// Where the run of characters that have none of these properties ends.
template <typename Text>
[[nodiscard]] std::size_t end_of_others(const Text& text, std::size_t i, unsigned none_of) noexcept {
  for (ClassifiedCharacter c = text.at(i); c.n_bytes != 0 && !c.is(none_of); c = text.at(i)) i += c.n_bytes;
  return i;
}

/// `[\r\n]*` or `[\r\n/]*`
template <typename Text>
[[nodiscard]] std::size_t end_of_newlines(const Text& text, std::size_t i, bool slash) noexcept {
  while (is_newline(text.byte_at(i)) || (slash && text.byte_at(i) == '/')) ++i;
  return i;
}

/// `[\p{N}]{1,n}`; no limit when n is 0
template <typename Text>
[[nodiscard]] std::size_t end_of_numbers(const Text& text, std::size_t i, unsigned n) noexcept {
  do {
    const ClassifiedCharacter c = text.at(i);
    if (!c.is(kNumber)) break;
    i += c.n_bytes;
  } while (--n != 0);
  return i;
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`, the first of them only with `newlines`: all of a run up to its last line
/// break, else all but the last character, which is left to what follows.
template <typename Text>
[[nodiscard]] std::size_t end_of_space(const Text& text, std::size_t begin, bool newlines) noexcept {
  std::size_t end = begin;
  std::size_t last = begin;
  std::size_t newline_end = begin;
  for (ClassifiedCharacter c = text.at(end); c.is(kSpace); c = text.at(end)) {
    last = end;
    end += c.n_bytes;
    if (is_newline(text.byte_at(last))) newline_end = end;
  }
  if (newlines && newline_end != begin) return newline_end;
  return text.at(end).n_bytes == 0 || last == begin ? end : last;
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`. U+017F is an s of another case.
template <typename Text>
[[nodiscard]] std::size_t end_of_contraction(const Text& text, std::size_t i, bool any_case) noexcept {
  if (text.byte_at(i) != '\'') return i;
  const auto letter = [&](std::size_t at) {
    const unsigned char byte = text.byte_at(at);
    return any_case && byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
  };
  const auto first = letter(i + 1);
  const auto second = letter(i + 2);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return i + 2;
  if ((first == 'r' || first == 'v') && second == 'e') return i + 3;
  if (first == 'l' && second == 'l') return i + 3;
  if (any_case && first == 0xC5 && second == 0xBF) return i + 3;
  return i;
}

/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
struct Gpt2 {
  [[nodiscard]] static std::size_t token_end(std::string_view bytes, std::size_t begin) noexcept {
    const WholeText text{bytes};
    if (const auto end = end_of_contraction(text, begin, false); end != begin) return end;
    const std::size_t i = begin + (bytes[begin] == ' ' ? 1 : 0);
    const ClassifiedCharacter c = text.at(i);
    if (c.is(kLetter)) return end_of(text, i, kLetter);
    if (c.is(kNumber)) return end_of(text, i, kNumber);
    if (c.n_bytes != 0 && !c.is(kSpace)) return end_of_others(text, i, kLetter | kNumber | kSpace);
    return end_of_space(text, begin, false);
  }
};

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|`
/// `\s*[\r\n]+|\s+(?!\S)|\s+`, where `\p{L}` is the properties `word` (all of them, but as a prefix, where
/// marks would match either way), and the 3 is `max_digits`.
template <unsigned max_digits, unsigned word = kLetter>
struct Cl100k {
  [[nodiscard]] static std::size_t token_end(std::string_view bytes, std::size_t begin) noexcept {
    const WholeText text{bytes};
    if (const auto end = end_of_contraction(text, begin, true); end != begin) return end;
    const ClassifiedCharacter c = text.at(begin);
    if (c.is(word)) return end_of(text, begin, word);
    if (c.is(kNumber)) return end_of_numbers(text, begin, max_digits);
    if (!is_newline(text.byte_at(begin))) {
      if (text.at(begin + c.n_bytes).is(word)) return end_of(text, begin + c.n_bytes, word);
      const std::size_t symbols = begin + (bytes[begin] == ' ' ? 1 : 0);
      const std::size_t end = end_of_others(text, symbols, word | kNumber | kSpace);
      if (end != symbols) return end_of_newlines(text, end, false);
    }
    return end_of_space(text, begin, true);
  }
};

/// `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|`
/// `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|`
/// `\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
template <unsigned max_digits, bool contractions, bool slash, bool han_apart>
struct O200k {
  static constexpr unsigned kWord = kLetter | kMark;

  [[nodiscard]] static std::size_t token_end(std::string_view bytes, std::size_t begin) noexcept {
    const WholeText text{bytes};
    const ClassifiedCharacter c = text.at(begin);
    if (han_apart && c.is(kHan)) return end_of(text, begin, kHan);
    if (c.is(kWord)) return word_end(text, begin);
    if (c.is(kNumber)) return end_of_numbers(text, begin, max_digits);
    if (!is_newline(text.byte_at(begin))) {
      if (is_word(text.at(begin + c.n_bytes))) return word_end(text, begin + c.n_bytes);
      const std::size_t symbols = begin + (bytes[begin] == ' ' ? 1 : 0);
      const std::size_t end = end_of_others(text, symbols, kLetter | kNumber | kSpace);
      if (end != symbols) return end_of_newlines(text, end, slash);
    }
    return end_of_space(text, begin, true);
  }

 private:
  [[nodiscard]] static bool is_word(ClassifiedCharacter c, unsigned any_of = kWord) noexcept {
    return c.is(any_of) && !(han_apart && c.is(kHan));
  }

  /// The first alternative takes as many upper-case letters as it can and then at least one character that
  /// may be lower case: it gives back what follows the last character that may be either. Without any there
  /// is the second alternative.
  [[nodiscard]] static std::size_t word_end(const WholeText& text, std::size_t begin) noexcept {
    std::size_t end = begin;
    std::size_t either_end = begin;
    ClassifiedCharacter c = text.at(end);
    for (; is_word(c, kUpper | kCaseless | kMark); c = text.at(end)) {
      end += c.n_bytes;
      if (!c.is(kUpper)) either_end = end;
    }
    if (c.is(kLower)) {
      for (; is_word(c, kLower | kCaseless | kMark); c = text.at(end)) end += c.n_bytes;
    } else if (either_end != begin) {
      end = either_end;
    }
    return contractions ? end_of_contraction(text, end, true) : end;
  }
};

}  // namespace turnloom::split_rules
