// The split patterns 64 bytes at a time: where pre-tokens start, by bit masks.
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
  bool any_prefix = true;  ///< a word takes any character before it that belongs to nothing; else a space
  bool cases = false;      ///< a word ends where upper case follows lower case
  bool slash = false;      ///< symbols take slashes together with the line breaks after them
  Apart apart = Apart::nothing;  ///< runs of these letters are pre-tokens
  bool deepseek = false;         ///< see split_rules_deepseek.hpp
};

/// Starts of pre-tokens in a block.
struct BlockStarts {
  std::uint64_t starts;  ///< bit k: a pre-token starts at byte k; all those that are certain, bit 0 too
  bool stopped;          ///< the pre-token of the last start is not for this code
};

template <BlockShape shape>
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
    lower_ = ascii_.letter & ~ascii_.upper;
    if constexpr (shape.deepseek) stop_at(ascii_.control);
    if ((ascii_.non_ascii & lowest(size_)) != 0) {
      read_non_ascii();
      // Whether a word ends before upper case then depends on what follows.
      if constexpr (shape.cases) stop_at(upper_ & (either_ << 1));
    }
    if (size_ == 0) return {1, true};

    const Bits valid = lowest(size_);
    letter_ &= valid;
    const Bits digit = ascii_.digit & valid;
    const Bits space = ascii_.space & valid;
    const Bits newline = ascii_.newline & valid;
    const Bits blank = ascii_.blank & valid;
    const Bits symbol = valid & ~(letter_ | digit | space | apart_);

    // Line breaks, and for some slashes, that the symbols before them take.
    Bits taken = 0;
    if constexpr (shape.any_prefix) {
      const Bits tail = newline | (shape.slash ? ascii_.slash & valid : 0);
      const Bits first = newline & (symbol << 1);
      taken = (tail & ~(tail + first)) | first;
    }
    const Bits free_symbol = symbol & ~taken;
    const Bits free_space = space & ~taken;
    const Bits free_newline = newline & ~taken;
    const Bits symbol_starts = free_symbol & ~(free_symbol << 1) & ~(blank << 1);
    Bits starts = 1 | symbol_starts | space_starts(free_space, free_newline, digit | apart_);
    starts |= digit_starts(digit, blank);
    starts |= apart_ & ~(apart_ << 1);
    starts |= letter_starts(symbol_starts, free_symbol, free_space & ~free_newline, blank);
    if constexpr (shape.contractions != Contractions::none) starts = contract(starts, valid);
    starts &= valid;

    if (!at_end_ && (free_space & bit(size_ - 1)) != 0) {
      // How white space splits depends on what is after it.
      const auto n = static_cast<unsigned>(std::countl_one(free_space << (64 - size_)));
      starts &= lowest(size_ - n + 1);
    }
    return {starts, stopped_};
  }

  [[nodiscard]] Bits space_starts(Bits space, Bits newline, Bits like_end) const noexcept {
    const Bits run_starts = space & ~(space << 1);
    Bits run_lasts = space & ~(space >> 1);
    if (at_end_) run_lasts &= ~bit(size_ - 1);
    if constexpr (shape.deepseek) run_lasts &= ~(like_end >> 1);
    if constexpr (!shape.any_prefix) return run_starts | run_lasts;

    // What is after the last line break of a run is apart from it.
    const Bits blanks = space & ~newline;
    Bits after_newline = blanks & (newline << 1);
    for (Bits not_last = (blanks + after_newline) & newline; not_last != 0; not_last &= not_last - 1) {
      const Bits before = after_newline & (lowest(static_cast<unsigned>(std::countr_zero(not_last))));
      after_newline &= ~std::bit_floor(before);
    }
    return run_starts | (run_lasts & ~newline) | after_newline;
  }

  [[nodiscard]] static Bits digit_starts(Bits digit, Bits blank) noexcept {
    if constexpr (shape.max_digits == 1) return digit;
    const Bits run_starts = digit & ~(digit << 1);
    if constexpr (shape.max_digits == 0) return run_starts & ~(blank << 1);
    Bits starts = run_starts;
    const Bits three_on = digit & (digit << 1) & (digit << 2);
    for (Bits next = (run_starts << 3) & three_on; next != 0; next = (next << 3) & three_on) starts |= next;
    return starts;
  }

  /// A word takes the character before it if that would start a pre-token.
  [[nodiscard]] Bits letter_starts(Bits symbol_starts, Bits symbol, Bits blanks, Bits blank) const noexcept {
    const Bits run_starts = letter_ & ~(letter_ << 1);
    Bits starts = 0;
    if constexpr (shape.deepseek) {
      const Bits after_symbol = run_starts & (symbol_starts << 1) & ascii_.letter;
      const Bits ascii_end = (ascii_.letter + after_symbol) & ~ascii_.letter;
      starts = (run_starts & ~(blanks << 1) & ~after_symbol) | (letter_ & ascii_end);
    } else if constexpr (shape.any_prefix) {
      Bits prefix = symbol_starts;
      for (int n = 0; n < 3 && following_ != 0; ++n) prefix |= (prefix << 1) & following_ & symbol;
      starts = run_starts & ~((prefix | blanks) << 1);
    } else {
      starts = run_starts & ~(blank << 1);
    }
    if constexpr (shape.cases) starts |= upper_ & (lower_ << 1);
    return starts;
  }

  /// Contractions: each is a pre-token or, after words, the end of one.
  [[nodiscard]] Bits contract(Bits starts, Bits valid) const noexcept {
    Bits candidates = ascii_.apostrophe & valid;
    if constexpr (shape.contractions == Contractions::after_words) {
      candidates &= letter_ << 1;
    } else {
      candidates &= starts;
    }
    for (std::size_t last_end = 0; candidates != 0; candidates &= candidates - 1) {
      const auto k = static_cast<std::size_t>(std::countr_zero(candidates));
      constexpr bool any_case = shape.contractions != Contractions::lower_case;
      const split_rules::WholeText text{text_};
      const std::size_t end = split_rules::end_of_contraction(text, begin_ + k, any_case) - begin_;
      if (end == k) continue;
      if (shape.contractions == Contractions::after_words && k == last_end) continue;
      const Bits inside =
          lowest(static_cast<unsigned>(std::min(end, std::size_t{64}))) & ~lowest(static_cast<unsigned>(k));
      starts &= shape.contractions == Contractions::after_words ? ~inside : ~(inside & (inside - 1));
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
      if (c.is(kSpace | kNumber)) return stop_at(bytes);
      if (shape.apart == BlockShape::Apart::han && c.is(kHan)) {
        if (!c.is(kLetter)) return stop_at(bytes);
        apart_ |= bytes;
      } else if (shape.apart == BlockShape::Apart::deepseek_cjk &&
                 split_rules::is_deepseek_cjk(text_, begin_ + k)) {
        if (!c.is(kLetter)) return stop_at(bytes);
        apart_ |= bytes;
      } else if (c.is(shape.word)) {
        if (shape.cases && c.is(kMark) && is_after_symbol(k)) return stop_at(bytes);
        letter_ |= bytes;
        if (c.is(kUpper)) upper_ |= bytes & (~bytes + 1);
        if (c.is(kLower)) lower_ |= bytes;
        if (c.is(kCaseless | kMark)) either_ |= bytes;
      } else if (shape.deepseek && !c.is(kSymbol)) {
        return stop_at(bytes);
      }
      following_ |= bytes & (bytes - 1);
      rest &= ~bytes;
    }
  }

  [[nodiscard]] bool is_after_symbol(unsigned k) const noexcept {
    return k > 0 && ((letter_ | apart_ | ascii_.digit | ascii_.space) & bit(k - 1)) == 0;
  }

  std::string_view text_;
  std::size_t begin_;
  unsigned size_;  ///< the bytes that the masks are right for
  bool at_end_;    ///< the text ends there
  bool stopped_ = false;
  ByteMasks ascii_;
  Bits letter_ = 0;
  Bits upper_ = 0;  ///< of characters in upper case, the first byte
  Bits lower_ = 0;
  Bits either_ = 0;  ///< letters without case, and marks
  Bits apart_ = 0;
  Bits following_ = 0;  ///< bytes of a character but its first
};

}  // namespace turnloom
