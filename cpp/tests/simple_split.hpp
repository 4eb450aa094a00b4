// Splitting into pre-tokens one at a time, for the blocks to agree with.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bpe/pretokenizer.hpp"
#include "bpe/split_rules.hpp"
#include "bpe/split_rules_deepseek.hpp"
#include "check.hpp"

namespace turnloom {

template <typename Rules>
std::vector<std::uint32_t> split_by_rules(std::string_view text) {
  std::vector<std::uint32_t> ends;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = Rules::token_end(text, begin);
    CHECK(end > begin);
    ends.push_back(static_cast<std::uint32_t>(end));
    begin = end;
  }
  return ends;
}

/// What `split` gives.
inline std::vector<std::uint32_t> simple_split(SplitPattern pattern, std::string_view text) {
  using namespace split_rules;
  switch (pattern) {
    case SplitPattern::gpt2:
      return split_by_rules<Gpt2>(text);
    case SplitPattern::cl100k:
      return split_by_rules<Cl100k<3>>(text);
    case SplitPattern::qwen2:
      return split_by_rules<Cl100k<1>>(text);
    case SplitPattern::qwen3_5:
      return split_by_rules<Cl100k<1, kLetter | kMark>>(text);
    case SplitPattern::o200k:
      return split_by_rules<O200k<3, true, true, false>>(text);
    case SplitPattern::tekken:
      return split_by_rules<O200k<1, false, true, false>>(text);
    case SplitPattern::kimi:
      return split_by_rules<O200k<3, true, false, true>>(text);
    case SplitPattern::deepseek_v3:
      return split_by_rules<DeepSeekV3>(text);
  }
  return {};
}

}  // namespace turnloom
