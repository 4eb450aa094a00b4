#include "turnloom/tokenizer.hpp"

#include <utility>

#include "added_tokens.hpp"
#include "attribution.hpp"

namespace turnloom {

void EncodedRegions::clear() noexcept {
  ids.clear();
  begins.clear();
  ends.clear();
  counts.clear();
}

Tokenizer::Tokenizer(std::vector<AddedToken> added_tokens, std::shared_ptr<const TextEncoder> encoder)
    : added_tokens_(std::move(added_tokens)),
      matcher_(std::make_unique<const AddedTokenMatcher>(added_tokens_)),
      encoder_(std::move(encoder)) {}

Tokenizer::~Tokenizer() = default;

std::optional<TokenId> Tokenizer::added_token_id(std::string_view content) const {
  const AddedToken* token = matcher_->find(content);
  return token == nullptr ? std::nullopt : std::optional(token->id);
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, bool match_markers) const {
  std::vector<std::int64_t> offsets;
  return encode_batch({&text, 1}, match_markers, offsets);
}

// A text is a prompt of one piece, and the policy decides about its markers.
std::vector<TokenId> Tokenizer::encode_batch(std::span<const std::string_view> texts, bool match_markers,
                                             std::vector<std::int64_t>& offsets) const {
  const MarkerPolicy policy = match_markers ? MarkerPolicy::all : MarkerPolicy::trusted;
  std::vector<SegmentedPrompt> prompts(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    Prompt& prompt = prompts[i].prompt;
    prompt.text = texts[i];
    prompt.pieces.push_back(
        {0, texts[i].size(), kNoMessage, kNoToken, Field::content, Source::guest, false, true});
    prompts[i].segments = segment(prompt, *this, policy).segments;
  }
  TokenColumns columns;
  std::vector<std::size_t> row_ends;
  encode_prompts(prompts, *encoder_, false, columns, row_ends);
  offsets.assign(1, 0);
  offsets.insert(offsets.end(), row_ends.begin(), row_ends.end());
  return std::move(columns.token_ids);
}

}  // namespace turnloom
