// Token ids -> items: runs of text, and the markers of the format between them.
//
// A marker that the vocabulary has as a token is that id and nothing else: its spelling in other ids is text.
// A marker that the vocabulary lacks is its spelling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "turnloom/parse.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {

struct Item {
  enum class Kind : std::uint8_t {
    text,
    header,  ///< begins the header of a turn
    think_open,
    think_close,
    call_open,
    call_close,
    end,  ///< a stop token, or nothing more
  };

  Kind kind;
  std::size_t begin;  ///< bytes `[begin, end)` of all that was decoded; a marker is spelled there, too
  std::size_t end;
  std::size_t first_token;
  std::size_t end_token;
};

/// A format whose tokens have been looked up. Immutable.
class BoundFormat {
 public:
  struct Marker {
    Item::Kind kind;
    std::string_view spelling;
    TokenId token;  ///< kNoToken where the vocabulary has none
  };

  /// Throws Error (value) if the vocabulary lacks the header token.
  BoundFormat(const Tokenizer& tokenizer, std::shared_ptr<const TokenBytes> token_bytes,
              const CompletionFormat& format);

  [[nodiscard]] const CompletionFormat& format() const noexcept { return format_; }
  [[nodiscard]] const TokenBytes& token_bytes() const noexcept { return *token_bytes_; }
  /// Markers that are recognised by their spelling.
  [[nodiscard]] std::span<const Marker> spelled_markers() const noexcept { return spelled_markers_; }
  /// The marker that a token is, or null.
  [[nodiscard]] const Marker* marker_of(TokenId id) const noexcept;
  [[nodiscard]] bool is_stop(TokenId id) const noexcept;
  /// Whether the text of several tokens may be one item: nothing asks which of them a byte is of.
  [[nodiscard]] bool has_text_runs() const noexcept {
    return spelled_markers_.empty() && format_.calls != CallSyntax::llama_json;
  }
  /// Whether it is neither marker nor stop: a quick answer for nearly all of them.
  [[nodiscard]] bool is_plain(TokenId id) const noexcept { return id < first_special_ || id > last_special_; }

 private:
  void add_marker(const Tokenizer& tokenizer, Item::Kind kind, std::string_view spelling);

  CompletionFormat format_;
  std::shared_ptr<const TokenBytes> token_bytes_;
  std::vector<Marker> markers_;
  std::vector<Marker> spelled_markers_;
  TokenId first_special_ = std::numeric_limits<TokenId>::max();
  TokenId last_special_ = kNoToken;
};

/// Decodes ids and appends what is complete to `text()`.
class ItemReader {
 public:
  explicit ItemReader(const BoundFormat& format) : format_(format) {}

  /// Reads the first id, or more of them, and replaces `items` by those that they complete. Returns how many
  /// were read. Not to be called after the end.
  std::size_t read(std::span<const TokenId> ids, std::vector<Item>& items);
  /// Replaces `items` by what was held back, and the end. An incomplete character is one U+FFFD.
  void end(std::vector<Item>& items);

  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::string take_text() noexcept { return std::move(text_); }

 private:
  std::size_t read_run(std::span<const TokenId> ids, std::vector<Item>& items);
  void read_token(TokenId id, std::vector<Item>& items);
  void flush(std::vector<Item>& items);
  void add_text(std::size_t begin, std::size_t token, std::vector<Item>& items);
  void find_spelled_markers(const Item& run, std::vector<Item>& items);

  const BoundFormat& format_;
  std::string text_;
  std::string incomplete_;       ///< bytes of a character that is not complete
  std::vector<Item> beginning_;  ///< characters that may begin a spelled marker
  std::size_t n_tokens_ = 0;
  bool ended_ = false;
};

}  // namespace turnloom
