// The split patterns 64 bytes at a time: where pre-tokens start, by bit masks.
//
// Bit k of a mask tells of byte k. So `x << 1` is what comes after x, `x & ~(x << 1)` where its runs start,
// and adding the start of a run to x carries to where the run ends. A block begins where a pre-token starts,
// and ends where that is: the last start found, from which the next block goes on, so nothing is carried
// over.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bpe/byte_masks.hpp"
#include "bpe/split_rules.hpp"
#include "bpe/split_rules_deepseek.hpp"

namespace turnloom {

/// What the patterns differ in.
struct BlockShape {
  enum class Contractions : std::uint8_t { none, lower_case, before_words, after_words };
  enum class Apart : std::uint8_t { nothing, han, deepseek_cjk };

  unsigned max_digits;  ///< 1 or 3; 0 for all
  unsigned word;        ///< properties of the characters of words, by which other than ASCII are told
  Contractions contractions;
  /// A word takes any character before it that belongs to nothing, and line breaks are apart from other white
  /// space. Else words, numbers and symbols take a space.
  bool any_prefix = true;
  bool cases = false;            ///< a word ends where upper case follows lower case
  bool slash = false;            ///< symbols take slashes together with the line breaks after them
  Apart apart = Apart::nothing;  ///< runs of these letters are pre-tokens
  bool deepseek = false;         ///< the rest of split_rules_deepseek.hpp
};

/// Starts of pre-tokens in a block.
struct BlockStarts {
  std::uint64_t starts;  ///< bit k: a pre-token starts at byte k; all those that are certain, bit 0 too
  bool stopped;          ///< the pre-token of the last start is not for blocks
};

/// `Pattern::kShape` says what is looked for.
template <typename Pattern>
class BlockScanner {
 public:
  /// `begin` is where a pre-token starts. `bytes` holds 64 bytes: those of the text from there on, then
  /// anything.
  [[nodiscard]] static BlockStarts starts(std::string_view text, std::size_t begin,
                                          const char* bytes) noexcept {
    return BlockScanner(text, begin, bytes).find();
  }

 private:
  using Bits = std::uint64_t;
  using Contractions = BlockShape::Contractions;

  static constexpr BlockShape kShape = Pattern::kShape;

  BlockScanner(std::string_view text, std::size_t begin, const char* bytes) noexcept
      : text_(text),
        begin_(begin),
        size_(static_cast<unsigned>(std::min(text.size() - begin, kBlockBytes))),
        at_end_(text.size() - begin <= kBlockBytes),
        ascii_(byte_masks(bytes)) {}

  /// The lowest `n` bits.
  [[nodiscard]] static Bits lowest(unsigned n) noexcept { return n >= 64 ? ~Bits{0} : (Bits{1} << n) - 1; }
  [[nodiscard]] static Bits bit(std::size_t k) noexcept { return k >= 64 ? 0 : Bits{1} << k; }

  [[nodiscard]] BlockStarts find() noexcept {
    letter_ = ascii_.letter;
    upper_ = ascii_.upper;
    if constexpr (kShape.deepseek) stop_at(ascii_.control);
    if ((ascii_.non_ascii & lowest(size_)) != 0) {
      read_non_ascii();
      if constexpr (kShape.cases) {
        // Symbols take the marks after them, unless they are the prefix of a word.
        const Bits symbol = ~(letter_ | apart_ | ascii_.digit | ascii_.space);
        stop_at(mark_ & ~following_ & (symbol << 1));
        // Whether a word ends before upper case depends on what follows that.
        stop_at(upper_ & ~following_ & (either_ << 1));
      }
    }
    if (size_ == 0) return {1, true};

    const Bits valid = lowest(size_);
    letter_ &= valid;
    const Bits digit = ascii_.digit & valid;
    const Bits space = ascii_.space & valid;
    const Bits newline = ascii_.newline & valid;
    const Bits blank = ascii_.blank & valid;
    const Bits symbol = valid & ~(letter_ | digit | space | apart_);

    const Bits taken = taken_by_symbols(symbol, newline, ascii_.slash & valid);
    const Bits free_symbol = symbol & ~taken;
    const Bits free_space = space & ~taken;
    const Bits free_newline = newline & ~taken;
    const Bits symbol_starts = free_symbol & ~(free_symbol << 1) & ~(blank << 1);
    Bits starts = 1 | symbol_starts | space_starts(free_space, free_newline, digit | apart_);
    starts |= digit_starts(digit, blank);
    starts |= apart_ & ~(apart_ << 1);
    starts |= letter_starts(symbol_starts, free_symbol, free_space & ~free_newline, blank);
    if constexpr (kShape.contractions != Contractions::none) starts = contract(starts, valid);
    starts &= valid;

    // How white space at the end splits depends on what is after it.
    const auto n_unsure = static_cast<unsigned>(at_end_ ? 0 : std::countl_one(free_space << (64 - size_)));
    starts &= lowest(size_ - n_unsure + 1);
    return {starts, stopped_};
  }

  /// The line breaks, and for some patterns slashes among them, that go with the symbols before them.
  [[nodiscard]] static Bits taken_by_symbols(Bits symbol, Bits newline, Bits slash) noexcept {
    if constexpr (!kShape.any_prefix) return 0;
    const Bits tail = newline | (kShape.slash ? slash : 0);
    const Bits first = newline & (symbol << 1);
    return (tail & ~(tail + first)) | first;
  }

  [[nodiscard]] Bits space_starts(Bits space, Bits newline, Bits like_end) const noexcept {
    const Bits run_starts = space & ~(space << 1);
    Bits run_lasts = space & ~(space >> 1);
    if (at_end_) run_lasts &= ~bit(size_ - 1);
    if constexpr (kShape.deepseek) run_lasts &= ~(like_end >> 1);
    if constexpr (!kShape.any_prefix) return run_starts | run_lasts;

    // What is after the last line break of a run is apart from it.
    const Bits blanks = space & ~newline;
    Bits after_newline = blanks & (newline << 1);
    for (Bits not_last = (blanks + after_newline) & newline; not_last != 0; not_last &= not_last - 1) {
      const Bits before = after_newline & lowest(static_cast<unsigned>(std::countr_zero(not_last)));
      after_newline &= ~std::bit_floor(before);
    }
    return run_starts | (run_lasts & ~newline) | after_newline;
  }

  [[nodiscard]] static Bits digit_starts(Bits digit, Bits blank) noexcept {
    if constexpr (kShape.max_digits == 1) return digit;
    const Bits run_starts = digit & ~(digit << 1);
    if constexpr (kShape.max_digits == 0) return run_starts & ~(blank << 1);
    Bits starts = run_starts;
    const Bits three_on = digit & (digit << 1) & (digit << 2);
    for (Bits next = (run_starts << 3) & three_on; next != 0; next = (next << 3) & three_on) starts |= next;
    return starts;
  }

  /// A word takes the character before it if that would start a pre-token.
  [[nodiscard]] Bits letter_starts(Bits symbol_starts, Bits symbol, Bits blanks, Bits blank) const noexcept {
    const Bits run_starts = letter_ & ~(letter_ << 1);
    Bits starts = 0;
    if constexpr (kShape.deepseek) {
      const Bits after_symbol = run_starts & (symbol_starts << 1) & ascii_.letter;
      const Bits ascii_end = (ascii_.letter + after_symbol) & ~ascii_.letter;
      starts = (run_starts & ~(blanks << 1) & ~after_symbol) | (letter_ & ascii_end);
    } else if constexpr (kShape.any_prefix) {
      Bits prefix = symbol_starts;
      for (int n = 0; n < 3 && following_ != 0; ++n) prefix |= (prefix << 1) & following_ & symbol;
      starts = run_starts & ~((prefix | blanks) << 1);
    } else {
      starts = run_starts & ~(blank << 1);
    }
    if constexpr (kShape.cases) {
      const Bits lower = letter_ & ~upper_ & ~either_;
      starts |= upper_ & ~following_ & (lower << 1);
    }
    return starts;
  }

  /// Contractions: each is a pre-token or, after words, the end of one.
  [[nodiscard]] Bits contract(Bits starts, Bits valid) const noexcept {
    Bits candidates = ascii_.apostrophe & valid;
    if constexpr (kShape.contractions == Contractions::after_words) {
      candidates &= letter_ << 1;
    } else {
      candidates &= starts;
    }
    for (std::size_t last_end = 0; candidates != 0; candidates &= candidates - 1) {
      const auto k = static_cast<std::size_t>(std::countr_zero(candidates));
      constexpr bool any_case = kShape.contractions != Contractions::lower_case;
      const split_rules::WholeText text{text_};
      const std::size_t end = split_rules::end_of_contraction(text, begin_ + k, any_case) - begin_;
      if (end == k) continue;
      if (kShape.contractions == Contractions::after_words && k == last_end) continue;
      const Bits inside =
          lowest(static_cast<unsigned>(std::min(end, std::size_t{64}))) & ~lowest(static_cast<unsigned>(k));
      starts &= kShape.contractions == Contractions::after_words ? ~inside : ~(inside & (inside - 1));
      starts |= bit(end);
      last_end = end;
    }
    return starts;
  }

  /// Leaves what is from the lowest of these bits on to others.
  void stop_at(Bits bits) noexcept {
    const auto k = static_cast<unsigned>(std::countr_zero(bits));
    if (k >= size_) return;
    size_ = k;
    at_end_ = false;
    stopped_ = true;
  }

  /// Puts characters other than ASCII into the masks, up to one that the masks cannot express.
  void read_non_ascii() noexcept {
    using namespace character_class;
    for (Bits rest = ascii_.non_ascii & lowest(size_); rest != 0;) {
      const auto k = static_cast<unsigned>(std::countr_zero(rest));
      const ClassifiedCharacter c = classify(text_, begin_ + k);
      const Bits bytes = lowest(c.n_bytes) << k;
      if (k + c.n_bytes > size_) {  // the block ends within it
        size_ = k;
        at_end_ = false;
        return;
      }
      const bool apart = is_apart(c, k);
      if (!is_expressible(c, apart)) return stop_at(bytes);
      // No branches from here on: what kind of character is next is hard to predict.
      const auto when = [bytes](bool condition) { return bytes & (Bits{0} - Bits{condition}); };
      const bool word = c.is(kShape.word) && !apart;
      apart_ |= when(apart);
      letter_ |= when(word);
      if constexpr (kShape.cases) {
        upper_ |= when(word && c.is(kUpper));
        either_ |= when(word && c.is(kCaseless | kMark));
        mark_ |= when(c.is(kMark));
      }
      following_ |= bytes & (bytes << 1);
      rest &= ~bytes;
    }
  }

  [[nodiscard]] bool is_apart(ClassifiedCharacter c, unsigned k) const noexcept {
    if constexpr (kShape.apart == BlockShape::Apart::han) return c.is(character_class::kHan);
    if constexpr (kShape.apart == BlockShape::Apart::deepseek_cjk) {
      return split_rules::is_deepseek_cjk(text_, begin_ + k);
    }
    return false;
  }

  [[nodiscard]] static bool is_expressible(ClassifiedCharacter c, bool apart) noexcept {
    using namespace character_class;
    if (c.is(kSpace | kNumber)) return false;
    if (apart) return c.is(kLetter);
    return !kShape.deepseek || c.is(kShape.word | kSymbol);
  }

  std::string_view text_;
  std::size_t begin_;
  unsigned size_;  ///< the bytes that the masks are right for
  bool at_end_;    ///< the text ends there
  bool stopped_ = false;
  ByteMasks ascii_;
  Bits letter_ = 0;
  Bits upper_ = 0;
  Bits either_ = 0;  ///< letters without case, and marks
  Bits mark_ = 0;
  Bits apart_ = 0;
  Bits following_ = 0;  ///< bytes of a character but its first
};

}  // namespace turnloom
