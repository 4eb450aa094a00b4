#include <algorithm>

#include "turnloom/scan.hpp"

namespace turnloom {
namespace {

/// Ids this close are taken together: what lies between control tokens is other control tokens.
constexpr TokenId kCloseGap = 256;

/// As many bits as this are set up in less time than a search takes.
constexpr std::size_t kMaxBits = std::size_t{1} << 18;

/// Splits ascending tokens at their widest gaps.
std::vector<TokenSet::Cluster> find_clusters(const std::vector<TokenId>& tokens) {
  std::vector<std::size_t> splits;  // positions of the tokens that begin a cluster
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (tokens[i] - tokens[i - 1] > kCloseGap) splits.push_back(i);
  }
  if (splits.size() >= TokenSet::kMaxClusters) {
    const auto is_wider = [&](std::size_t a, std::size_t b) {
      return tokens[a] - tokens[a - 1] > tokens[b] - tokens[b - 1];
    };
    const auto n_kept = static_cast<std::ptrdiff_t>(TokenSet::kMaxClusters - 1);
    std::nth_element(splits.begin(), splits.begin() + n_kept, splits.end(), is_wider);
    splits.resize(TokenSet::kMaxClusters - 1);
    std::sort(splits.begin(), splits.end());
  }
  std::vector<TokenSet::Cluster> clusters;
  if (tokens.empty()) return clusters;
  std::size_t begin = 0;
  for (const std::size_t split : splits) {
    clusters.push_back({tokens[begin], tokens[split - 1]});
    begin = split;
  }
  clusters.push_back({tokens[begin], tokens.back()});
  return clusters;
}

}  // namespace

TokenSet::TokenSet(std::vector<TokenId> tokens) : tokens_(std::move(tokens)) {
  std::sort(tokens_.begin(), tokens_.end());
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end()), tokens_.end());
  clusters_ = find_clusters(tokens_);
  if (tokens_.empty()) return;
  const auto n_bits = static_cast<std::size_t>(tokens_.back() - tokens_.front()) + 1;
  if (n_bits > kMaxBits) return;
  bits_.resize((n_bits + 63) / 64);
  for (const TokenId token : tokens_) {
    const auto bit = static_cast<std::size_t>(token - tokens_.front());
    bits_[bit / 64] |= std::uint64_t{1} << bit % 64;
  }
}

}  // namespace turnloom
