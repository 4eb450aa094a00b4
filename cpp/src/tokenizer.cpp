#include "turnloom/tokenizer.hpp"

#include <algorithm>
#include <atomic>
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

/// Encodes chunks of texts one after the other.
class TextsEncoder {
 public:
  TextsEncoder(const Tokenizer& tokenizer, bool match_markers)
      : tokenizer_(tokenizer), match_markers_(match_markers) {}

  /// Appends to `out`.
  void encode(std::span<const std::string_view> texts, EncodedTexts& out) {
    regions_.clear();
    tokens_.clear();
    text_ends_.clear();
    for (const std::string_view text : texts) {
      if (tokenizer_.matcher().may_match(text)) {
        for (const auto& [begin, end, token] : segments_of(tokenizer_, text, match_markers_)) {
          add(text.substr(begin, end - begin), token);
        }
      } else if (!text.empty()) {
        add(text, kNoToken);
      }
      text_ends_.push_back(tokens_.size());
    }
    encoded_.clear();
    if (!regions_.empty()) tokenizer_.encoder().encode(regions_, encoded_);
    append(out);
  }

 private:
  void add(std::string_view text, TokenId token) {
    tokens_.push_back(token);
    if (token == kNoToken) regions_.push_back(text);
  }

  void append(EncodedTexts& out) const {
    auto ids = encoded_.ids.begin();
    auto count = encoded_.counts.begin();
    std::size_t i = 0;
    for (const std::size_t end : text_ends_) {
      const std::size_t first = out.ids.size();
      for (; i < end; ++i) {
        if (tokens_[i] != kNoToken) {
          out.ids.push_back(tokens_[i]);
        } else {
          const auto last = ids + static_cast<std::ptrdiff_t>(*count++);
          out.ids.insert(out.ids.end(), ids, last);
          ids = last;
        }
      }
      out.counts.push_back(out.ids.size() - first);
    }
  }

  const Tokenizer& tokenizer_;
  const bool match_markers_;
  std::vector<std::string_view> regions_;
  std::vector<TokenId> tokens_;         ///< of the segments; kNoToken for a region
  std::vector<std::size_t> text_ends_;  ///< in tokens_
  EncodedRegions encoded_;
};

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
  if (!text.empty() && !matcher_->may_match(text)) {
    EncodedRegions encoded;
    encoder_->encode({&text, 1}, encoded);
    return {encoded.ids.begin(), encoded.ids.end()};
  }
  EncodedTexts encoded;
  TextsEncoder(*this, match_markers).encode({&text, 1}, encoded);
  return std::move(encoded.ids);
}

std::vector<TokenId> Tokenizer::encode_batch(std::span<const std::string_view> texts, bool match_markers,
                                             std::size_t threads, std::vector<std::int64_t>& offsets) const {
  const std::vector<std::size_t> chunk_ends = chunks_of(texts);
  const std::size_t n_workers = std::max<std::size_t>(1, std::min(threads, chunk_ends.size()));
  std::vector<EncodedTexts> encoded(n_workers == 1 ? 1 : chunk_ends.size());
  std::atomic<std::size_t> next = 0;
  run_on_threads(n_workers, n_workers, [&](std::size_t) {
    TextsEncoder encoder(*this, match_markers);
    for (std::size_t i = next++; i < chunk_ends.size(); i = next++) {
      const std::size_t first = i == 0 ? 0 : chunk_ends[i - 1];
      encoder.encode(texts.subspan(first, chunk_ends[i] - first), encoded[encoded.size() == 1 ? 0 : i]);
    }
  });

  offsets.assign(1, 0);
  offsets.reserve(texts.size() + 1);
  for (const EncodedTexts& chunk : encoded) {
    for (const std::size_t count : chunk.counts)
      offsets.push_back(offsets.back() + static_cast<std::int64_t>(count));
  }
  if (encoded.size() == 1) return std::move(encoded.front().ids);
  std::vector<TokenId> ids;
  ids.reserve(static_cast<std::size_t>(offsets.back()));
  for (EncodedTexts& chunk : encoded) {
    ids.insert(ids.end(), chunk.ids.begin(), chunk.ids.end());
    chunk = {};
  }
  return ids;
}

}  // namespace turnloom
