// Splitting into pre-tokens: what each pattern is about, and blocks of bytes against one pre-token at a time.
#include "bpe/pretokenizer.hpp"

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bpe/byte_masks.hpp"
#include "check.hpp"
#include "simple_split.hpp"

using namespace turnloom;

namespace {

using Pieces = std::vector<std::string_view>;

Pieces pieces(SplitPattern pattern, std::string_view text) {
  std::vector<std::uint32_t> ends{7, 7, 7};  // what it holds before does not matter
  split(pattern, text, ends);
  Pieces out;
  std::size_t begin = 0;
  for (const std::uint32_t end : ends) {
    out.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  CHECK(begin == text.size());
  return out;
}

void names() {
  CHECK(split_pattern_of("o200k") == SplitPattern::o200k);
  CHECK(split_pattern_of("deepseek_v3") == SplitPattern::deepseek_v3);
  CHECK(!split_pattern_of("o200k "));
}

void words() {
  using enum SplitPattern;
  CHECK(pieces(qwen2, "").empty());
  CHECK((pieces(qwen2, "I'll say (no) 中文!!a") ==
         Pieces{"I", "'ll", " say", " (", "no", ")", " 中文", "!!", "a"}));
  CHECK((pieces(qwen2, "\tx \u00A0y (z") == Pieces{"\tx", " ", "\u00A0y", " (", "z"}));
  CHECK((pieces(gpt2, "\tx I'LL it's") == Pieces{"\t", "x", " I", "'", "LL", " it", "'s"}));
  // U+017F is an s where case does not count.
  CHECK((pieces(cl100k, "it'S he'ſx") == Pieces{"it", "'S", " he", "'ſ", "x"}));
  // A mark is a symbol, or part of the word.
  CHECK((pieces(qwen2, "e\u0301g") == Pieces{"e", "\u0301g"}));
  CHECK((pieces(qwen3_5, "e\u0301g") == Pieces{"e\u0301g"}));
}

void cases() {
  using enum SplitPattern;
  CHECK((pieces(o200k, "HTMLParser fooBar don'ts") == Pieces{"HTMLParser", " foo", "Bar", " don't", "s"}));
  CHECK((pieces(tekken, "don't 12") == Pieces{"don", "'t", " ", "1", "2"}));
  // Upper case after a letter without case is given back unless lower case follows.
  CHECK((pieces(o200k, "中AB") == Pieces{"中", "AB"}));
  CHECK((pieces(o200k, "中Ab") == Pieces{"中Ab"}));
  CHECK((pieces(kimi, "中Ab") == Pieces{"中", "Ab"}));
}

void digits() {
  using enum SplitPattern;
  CHECK((pieces(cl100k, "12345678") == Pieces{"123", "456", "78"}));
  CHECK((pieces(qwen2, "12Ⅷ") == Pieces{"1", "2", "Ⅷ"}));
  CHECK((pieces(gpt2, "a 12345") == Pieces{"a", " 12345"}));
}

void white_space() {
  using enum SplitPattern;
  CHECK((pieces(qwen2, "a  b   ") == Pieces{"a", " ", " b", "   "}));
  CHECK((pieces(qwen2, "a;\n\n  \n   b") == Pieces{"a", ";\n\n", "  \n", "  ", " b"}));
  CHECK((pieces(qwen2, "  1") == Pieces{" ", " ", "1"}));
  CHECK((pieces(gpt2, "a\n\n b") == Pieces{"a", "\n\n", " b"}));
  CHECK((pieces(o200k, "}\n/*\n/") == Pieces{"}\n/", "*\n/"}));
  CHECK((pieces(kimi, "}\n/*") == Pieces{"}\n", "/*"}));
}

void deepseek() {
  using enum SplitPattern;
  // Digits and Chinese end the text for what is before them.
  CHECK((pieces(deepseek_v3, "a  1234") == Pieces{"a", "  ", "123", "4"}));
  CHECK((pieces(deepseek_v3, "a  中b") == Pieces{"a", "  ", "中", "b"}));
  CHECK((pieces(deepseek_v3, ".foo ..bar .é") == Pieces{".foo", " ..", "bar", " .", "é"}));
  CHECK((pieces(deepseek_v3, ".foé") == Pieces{".fo", "é"}));
  // Control characters match nothing, but for one before a word.
  CHECK((pieces(deepseek_v3, std::string_view("\0\0\0a", 4)) ==
         Pieces{std::string_view("\0\0", 2), std::string_view("\0a", 2)}));
}

/// Bits a block gives are those of its bytes one by one.
void masks() {
  std::array<char, 256 + kBlockBytes> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 37 % 256);
  for (std::size_t begin = 0; begin < 256; ++begin) {
    const ByteMasks fast = byte_masks(&bytes[begin]);
    const ByteMasks plain = portable_byte_masks(&bytes[begin]);
    for (std::size_t k = 0; k < kBlockBytes; ++k) {
      const auto c = static_cast<unsigned char>(bytes[begin + k]);
      for (const ByteMasks& m : {fast, plain}) {
        const auto has = [&](std::uint64_t mask) { return (mask >> k & 1) != 0; };
        const bool space = (c >= 9 && c <= 13) || c == ' ';
        CHECK(has(m.non_ascii) == (c >= 0x80));
        CHECK(has(m.upper) == (c >= 'A' && c <= 'Z'));
        CHECK(has(m.letter) == ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')));
        CHECK(has(m.digit) == (c >= '0' && c <= '9'));
        CHECK(has(m.space) == space);
        CHECK(has(m.newline) == (c == '\n' || c == '\r'));
        CHECK(has(m.blank) == (c == ' '));
        CHECK(has(m.apostrophe) == (c == '\''));
        CHECK(has(m.slash) == (c == '/'));
        CHECK(has(m.control) == ((c < 0x20 || c == 0x7F) && !space));
      }
    }
  }
}

/// Texts in which pre-tokens of all kinds meet at all places of a block.
void blocks_agree_with_rules() {
  using enum SplitPattern;
  // The first 27 are ASCII.
  const std::vector<std::string_view> parts{
      "a",      "b",      "word", "The", "XY", "Z",   " ",   " ",  "  ", "\t", "\n", "\r\n",   "\n\n",
      "1",      "23",     "4567", "'",   "'s", "'LL", "'re", "!",  "/",  "(",  "--", ".",      "\x7F",
      "\x01",   "é",      "É",    "ж",   "Ж",  "ʰ",   "ſ",   "中", "カ", "・", "ก",  "ि",      "\u0301",
      "\u00A0", "\u3000", "²",    "Ⅷ",   "१",  "—",   "“",   "🦙", "⺀", "々", "〇", "\u0378", "𠀀"};
  std::mt19937 random(1);
  std::string text;
  for (int round = 0; round < 20000; ++round) {
    text.clear();
    // Mostly ASCII every other time.
    const std::size_t n_parts = round % 2 == 0 ? parts.size() : 27;
    for (std::size_t n = random() % 60; n > 0; --n) {
      text += parts[random() % n_parts];
    }
    for (const SplitPattern pattern : {gpt2, cl100k, qwen2, qwen3_5, o200k, tekken, kimi, deepseek_v3}) {
      std::vector<std::uint32_t> ends;
      split(pattern, text, ends);
      CHECK(ends == simple_split(pattern, text));
    }
  }
}

}  // namespace

int main() {
  names();
  words();
  cases();
  digits();
  white_space();
  deepseek();
  masks();
  blocks_agree_with_rules();
}
