// From prompt to token ids: added tokens are matched here, the text between goes to a TextEncoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "turnloom/prompt.hpp"
#include "turnloom/raw_vector.hpp"

namespace turnloom {

/// An entry of `added_tokens` in a tokenizer.json.
struct AddedToken {
  std::string content;
  TokenId id = kNoToken;
  bool marker = false;  ///< subject to the marker policy: special, or declared by a family
  bool normalized = false;
  bool lstrip = false;
  bool rstrip = false;
  bool single_word = false;
};

/// Tokens of a run of regions, flat. Offsets are bytes in the token's own region.
struct EncodedRegions {
  RawVector<TokenId> ids;
  RawVector<std::uint32_t> begins;
  RawVector<std::uint32_t> ends;
  std::vector<std::size_t> counts;  ///< tokens of each region

  void clear() noexcept;
};

/// Encodes text in which no added token is to be matched. Implementations are immutable and may be
/// called from any thread.
class TextEncoder {
 public:
  TextEncoder() = default;
  TextEncoder(const TextEncoder&) = delete;
  TextEncoder& operator=(const TextEncoder&) = delete;
  virtual ~TextEncoder() = default;

  /// Whether `begins` and `ends` are filled. Without them tokens of a region cannot be told apart by origin.
  [[nodiscard]] virtual bool has_offsets() const noexcept { return true; }
  /// Encodes every region by itself and replaces `out`. Regions are valid UTF-8 and not empty.
  virtual void encode(std::span<const std::string_view> regions, EncodedRegions& out) const = 0;
};

/// Which text may hold markers. `reject` is `trusted` that refuses what `trusted` keeps as text.
enum class MarkerPolicy : std::uint8_t { trusted, all, none, reject };

/// A marker that the caller's text spells.
struct MarkerHit {
  std::size_t begin;  ///< bytes of the prompt's text
  std::size_t end;
  TokenId token;
  std::int32_t message;
  Field field;
  bool became_token;
};

class AddedTokenMatcher;

/// A vocabulary's added tokens together with the encoder of the text between them. Immutable.
class Tokenizer {
 public:
  Tokenizer(std::vector<AddedToken> added_tokens, std::shared_ptr<const TextEncoder> encoder);
  ~Tokenizer();

  [[nodiscard]] const std::vector<AddedToken>& added_tokens() const noexcept { return added_tokens_; }
  /// Id of the added token spelled `content`.
  [[nodiscard]] std::optional<TokenId> added_token_id(std::string_view content) const;
  /// Ids of a text by itself. Markers are tokens or, without `match_markers`, ordinary text.
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text, bool match_markers) const;
  /// The same for many texts, on `threads` threads that are started here and joined before it returns; text i
  /// has the ids `[offsets[i], offsets[i + 1])`.
  [[nodiscard]] std::vector<TokenId> encode_batch(std::span<const std::string_view> texts, bool match_markers,
                                                  std::size_t threads,
                                                  std::vector<std::int64_t>& offsets) const;

  [[nodiscard]] const AddedTokenMatcher& matcher() const noexcept { return *matcher_; }
  [[nodiscard]] const TextEncoder& encoder() const noexcept { return *encoder_; }

 private:
  std::vector<AddedToken> added_tokens_;
  std::unique_ptr<const AddedTokenMatcher> matcher_;
  std::shared_ptr<const TextEncoder> encoder_;
};

}  // namespace turnloom
