#include "bpe/pretokenizer.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "bpe/block_starts.hpp"
#include "bpe/byte_masks.hpp"
#include "bpe/split_rules.hpp"
#include "bpe/split_rules_deepseek.hpp"

namespace turnloom {
namespace {

using namespace character_class;
using namespace split_rules;

using Contractions = BlockShape::Contractions;
using Apart = BlockShape::Apart;

/// Appends the ends of pre-tokens to a vector that is cut to size at the end.
class Ends {
 public:
  Ends(std::vector<std::uint32_t>& ends, std::size_t text_size) : ends_(ends) {
    ends_.resize(text_size / 4 + kMost);
  }

  void append(std::size_t end) {
    reserve();
    ends_[size_++] = static_cast<std::uint32_t>(end);
  }
  /// Appends `begin` and the number of each bit that is set.
  void append_bits(std::size_t begin, std::uint64_t bits) {
    reserve();
    const auto offset = static_cast<std::uint32_t>(begin);
    std::uint32_t* out = ends_.data() + size_;
    const auto n = static_cast<std::size_t>(std::popcount(bits));
    // Eight at a time, be they set or not: the number of bits is hard to predict.
    for (std::size_t done = 0; done < n; done += 8) {
      for (std::size_t k = done; k < done + 8; ++k) {
        out[k] = offset + static_cast<std::uint32_t>(std::countr_zero(bits));
        bits &= bits - 1;
      }
    }
    size_ += n;
  }
  void cut() { ends_.resize(size_); }

 private:
  static constexpr std::size_t kMost = 64 + 8;

  void reserve() {
    if (ends_.size() - size_ < kMost) ends_.resize(ends_.size() * 2 + kMost);
  }

  std::vector<std::uint32_t>& ends_;
  std::size_t size_ = 0;
};

// What makes the patterns, as blocks and one pre-token at a time. Being private to this file lets the
// compiler inline all of a scanner.

struct PatternGpt2 {
  using Rules = Gpt2;
  static constexpr BlockShape kShape{
      .max_digits = 0, .word = kLetter, .contractions = Contractions::lower_case, .any_prefix = false};
};

template <unsigned digits, unsigned word_properties>
struct PatternCl100k {
  using Rules = Cl100k<digits, word_properties>;
  static constexpr BlockShape kShape{
      .max_digits = digits, .word = word_properties, .contractions = Contractions::before_words};
};
struct PatternOfCl100k : PatternCl100k<3, kLetter> {};
struct PatternQwen2 : PatternCl100k<1, kLetter> {};
struct PatternQwen35 : PatternCl100k<1, kLetter | kMark> {};

struct PatternO200k {
  using Rules = O200k<3, true, true, false>;
  static constexpr BlockShape kShape{.max_digits = 3,
                                     .word = kLetter | kMark,
                                     .contractions = Contractions::after_words,
                                     .cases = true,
                                     .slash = true};
};

struct PatternTekken {
  using Rules = O200k<1, false, true, false>;
  static constexpr BlockShape kShape{.max_digits = 1,
                                     .word = kLetter | kMark,
                                     .contractions = Contractions::none,
                                     .cases = true,
                                     .slash = true};
};

struct PatternKimi {
  using Rules = O200k<3, true, false, true>;
  static constexpr BlockShape kShape{.max_digits = 3,
                                     .word = kLetter | kMark,
                                     .contractions = Contractions::after_words,
                                     .cases = true,
                                     .apart = Apart::han};
};

struct PatternDeepSeekV3 {
  using Rules = DeepSeekV3;
  static constexpr BlockShape kShape{.max_digits = 3,
                                     .word = kLetter | kMark,
                                     .contractions = Contractions::none,
                                     .apart = Apart::deepseek_cjk,
                                     .deepseek = true};
};

/// Splits a block at a time; what a block cannot tell, its rules do.
template <typename Pattern>
void split_by(std::string_view text, std::vector<std::uint32_t>& out) {
  Ends ends(out, text.size());
  std::array<char, kBlockBytes> last_bytes{};
  for (std::size_t i = 0; i < text.size();) {
    const char* bytes = text.data() + i;
    const std::size_t rest = text.size() - i;
    if (rest < kBlockBytes) {
      std::memcpy(last_bytes.data(), bytes, rest);
      bytes = last_bytes.data();
    }
    const auto [starts, stopped] = BlockScanner<Pattern>::starts(text, i, bytes);
    ends.append_bits(i, starts & ~std::uint64_t{1});
    const auto last_start = static_cast<std::size_t>(63 - std::countl_zero(starts));
    if (rest <= kBlockBytes && !stopped) {
      ends.append(text.size());
      break;
    }
    i += last_start;
    if (stopped || last_start == 0) {
      i = Pattern::Rules::token_end(text, i);
      ends.append(i);
    }
  }
  ends.cut();
}

}  // namespace

std::optional<SplitPattern> split_pattern_of(std::string_view name) noexcept {
  if (name == "gpt2") return SplitPattern::gpt2;
  if (name == "cl100k") return SplitPattern::cl100k;
  if (name == "qwen2") return SplitPattern::qwen2;
  if (name == "qwen3_5") return SplitPattern::qwen3_5;
  if (name == "o200k") return SplitPattern::o200k;
  if (name == "tekken") return SplitPattern::tekken;
  if (name == "kimi") return SplitPattern::kimi;
  if (name == "deepseek_v3") return SplitPattern::deepseek_v3;
  return std::nullopt;
}

void split(SplitPattern pattern, std::string_view text, std::vector<std::uint32_t>& ends) {
  switch (pattern) {
    case SplitPattern::gpt2:
      return split_by<PatternGpt2>(text, ends);
    case SplitPattern::cl100k:
      return split_by<PatternOfCl100k>(text, ends);
    case SplitPattern::qwen2:
      return split_by<PatternQwen2>(text, ends);
    case SplitPattern::qwen3_5:
      return split_by<PatternQwen35>(text, ends);
    case SplitPattern::o200k:
      return split_by<PatternO200k>(text, ends);
    case SplitPattern::tekken:
      return split_by<PatternTekken>(text, ends);
    case SplitPattern::kimi:
      return split_by<PatternKimi>(text, ends);
    case SplitPattern::deepseek_v3:
      return split_by<PatternDeepSeekV3>(text, ends);
  }
}

}  // namespace turnloom
