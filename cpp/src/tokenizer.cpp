#include "turnloom/tokenizer.hpp"

#include <utility>

#include "added_tokens.hpp"
#include "segmenter.hpp"
#include "threads.hpp"

namespace turnloom {
namespace {

// Texts are encoded in chunks of so many bytes: what is not kept of a chunk then stays in the cache.
constexpr std::size_t kChunkBytes = std::size_t{1} << 17;

/// Ids of texts, flat, and how many each has.
struct EncodedTexts {
  std::vector<TokenId> ids;
  std::vector<std::size_t> counts;
};

std::vector<std::size_t> chunks_of(std::span<const std::string_view> texts) {
  std::vector<std::size_t> ends;
  std::size_t n_bytes = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    n_bytes += texts[i].size();
    if (n_bytes < kChunkBytes && i + 1 < texts.size()) continue;
    ends.push_back(i + 1);
    n_bytes = 0;
  }
  return ends;
}

// A text is a prompt of one piece, and the policy decides about its markers.
std::vector<Segment> segments_of(const Tokenizer& tokenizer, std::string_view text, bool match_markers) {
  const Piece piece{0, text.size(), kNoMessage, kNoToken, Field::content, Source::guest, false, true};
  const MarkerPolicy policy = match_markers ? MarkerPolicy::all : MarkerPolicy::trusted;
  return segment(text, {&piece, 1}, tokenizer, policy).segments;
}

// Appends to `out`.
void encode_texts(const Tokenizer& tokenizer, std::span<const std::string_view> texts, bool match_markers,
                  EncodedTexts& out) {
  std::vector<std::string_view> regions;
  std::vector<TokenId> tokens;            // of the segments; kNoToken for a region
  std::vector<std::size_t> segment_ends;  // of each text
  const auto add = [&](std::string_view text, TokenId token) {
    tokens.push_back(token);
    if (token == kNoToken) regions.push_back(text);
  };
  for (const std::string_view text : texts) {
    if (tokenizer.matcher().may_match(text)) {
      for (const auto& [begin, end, token] : segments_of(tokenizer, text, match_markers)) {
        add(text.substr(begin, end - begin), token);
      }
    } else if (!text.empty()) {
      add(text, kNoToken);
    }
    segment_ends.push_back(tokens.size());
  }
  EncodedRegions encoded;
  if (!regions.empty()) tokenizer.encoder().encode(regions, encoded);

  auto ids = encoded.ids.begin();
  auto count = encoded.counts.begin();
  std::size_t i = 0;
  for (const std::size_t end : segment_ends) {
    const std::size_t first = out.ids.size();
    for (; i < end; ++i) {
      if (tokens[i] != kNoToken) {
        out.ids.push_back(tokens[i]);
      } else {
        const auto last = ids + static_cast<std::ptrdiff_t>(*count++);
        out.ids.insert(out.ids.end(), ids, last);
        ids = last;
      }
    }
    out.counts.push_back(out.ids.size() - first);
  }
}

}  // namespace

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
  EncodedTexts encoded;
  encode_texts(*this, {&text, 1}, match_markers, encoded);
  return std::move(encoded.ids);
}

std::vector<TokenId> Tokenizer::encode_batch(std::span<const std::string_view> texts, bool match_markers,
                                             std::size_t threads, std::vector<std::int64_t>& offsets) const {
  const std::vector<std::size_t> chunk_ends = chunks_of(texts);
  std::vector<EncodedTexts> chunks(threads > 1 ? chunk_ends.size() : 1);
  run_on_threads(threads, chunk_ends.size(), [&](std::size_t i) {
    const std::size_t first = i == 0 ? 0 : chunk_ends[i - 1];
    encode_texts(*this, texts.subspan(first, chunk_ends[i] - first), match_markers,
                 chunks[i % chunks.size()]);
  });

  offsets.assign(1, 0);
  offsets.reserve(texts.size() + 1);
  for (const EncodedTexts& chunk : chunks) {
    for (const std::size_t count : chunk.counts)
      offsets.push_back(offsets.back() + static_cast<std::int64_t>(count));
  }
  if (chunks.size() == 1) return std::move(chunks.front().ids);
  std::vector<TokenId> ids;
  ids.reserve(static_cast<std::size_t>(offsets.back()));
  for (EncodedTexts& chunk : chunks) {
    ids.insert(ids.end(), chunk.ids.begin(), chunk.ids.end());
    chunk = {};
  }
  return ids;
}

}  // namespace turnloom
