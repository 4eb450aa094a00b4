#include "bpe/pretokenizer.hpp"

#include "bpe/split_rules.hpp"
#include "bpe/split_rules_deepseek.hpp"

namespace turnloom {
namespace {

using namespace character_class;
using namespace split_rules;

template <typename Rules>
void split_by(std::string_view text, std::vector<std::uint32_t>& ends) {
  for (std::size_t i = 0; i < text.size();) {
    i = Rules::token_end(text, i);
    ends.push_back(static_cast<std::uint32_t>(i));
  }
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
  ends.clear();
  switch (pattern) {
    case SplitPattern::gpt2:
      return split_by<Gpt2>(text, ends);
    case SplitPattern::cl100k:
      return split_by<Cl100k<3>>(text, ends);
    case SplitPattern::qwen2:
      return split_by<Cl100k<1>>(text, ends);
    case SplitPattern::qwen3_5:
      return split_by<Cl100k<1, kLetter | kMark>>(text, ends);
    case SplitPattern::o200k:
      return split_by<O200k<3, true, true, false>>(text, ends);
    case SplitPattern::tekken:
      return split_by<O200k<1, false, true, false>>(text, ends);
    case SplitPattern::kimi:
      return split_by<O200k<3, true, false, true>>(text, ends);
    case SplitPattern::deepseek_v3:
      return split_by<DeepSeekV3>(text, ends);
  }
}

}  // namespace turnloom
