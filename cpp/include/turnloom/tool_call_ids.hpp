// Tool-call ids that a provider accepts. What an id becomes is a contract: it never changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "turnloom/types.hpp"

namespace turnloom {

/// The ids of a batch that had to be replaced: `rows` ascending, and the text of each in
/// `text[offsets[i], offsets[i + 1])`.
struct ReplacedIds {
  std::vector<std::size_t> rows;
  std::string text;
  std::vector<std::size_t> offsets{0};
};

/// Which ids are accepted, and what replaces one that is not. Immutable.
class ToolCallIdFormat {
 public:
  enum class Kind : std::uint8_t {
    any,           ///< everything
    max_length,    ///< up to n characters (code points)
    url_safe,      ///< one or more of [A-Za-z0-9_-]
    bedrock,       ///< 1 to 64 of [A-Za-z0-9_.:-]
    alphanumeric,  ///< n of [A-Za-z0-9]
    kimi,          ///< functions.{name}:{index}, of conversations only
  };

  /// `n` is at least 1 where the kind has one, else 0. Bits of a hash that are not in `hash_mask` are
  /// cleared: with few bits left, tests see replacements meet.
  explicit ToolCallIdFormat(Kind kind, std::size_t n = 0, std::uint64_t hash_mask = ~std::uint64_t{0});

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] std::uint64_t hash_mask() const noexcept { return hash_mask_; }

  [[nodiscard]] bool accepts(std::string_view id) const noexcept;

  /// An accepted or empty id itself, else its replacement of round 0.
  /// Throws Error (value) for kimi, as does everything below.
  [[nodiscard]] std::string conform(std::string_view id) const;
  [[nodiscard]] ReplacedIds conform_batch(std::span<const std::string_view> ids) const;

  /// What stands for an id, accepted or not, in a round. Rounds differ, but for chance.
  [[nodiscard]] std::string replacement(std::string_view id, std::uint64_t round) const;

 private:
  /// Whether a replacement has no part of the id.
  [[nodiscard]] bool is_all_hash() const noexcept;
  void require_single_ids() const;
  [[nodiscard]] std::size_t longest_replacement(std::string_view id) const noexcept;
  /// `hashes` are those of the replacement's rounds.
  void append_replacement(std::string_view id, const std::uint64_t* hashes, std::string& text) const;
  /// The same to memory that has room for the longest one; returns the end of what it wrote.
  char* write_replacement(std::string_view id, const std::uint64_t* hashes, char* out) const noexcept;
  [[nodiscard]] std::size_t n_hashes() const noexcept;

  Kind kind_;
  std::size_t n_;
  std::uint64_t hash_mask_;
};

/// The name in a kimi id, `functions.{name}:{index}`; nothing for another id.
[[nodiscard]] std::optional<std::string_view> kimi_name(std::string_view id) noexcept;

/// Texts one after the other, in Arrow's layout: text i is `text[offsets[i], offsets[i + 1])`.
template <typename Offset>
struct FlatTexts {
  std::string text;
  std::vector<Offset> offsets;
};

/// Puts replacements and unchanged ids together again. `Offset` is int32 or int64. Throws Error (value) at
/// `ids` if the text is too long for it.
template <typename Offset>
[[nodiscard]] FlatTexts<Offset> with_replaced_ids(std::span<const std::string_view> ids,
                                                  const ReplacedIds& replaced);

/// The ids of a conversation's calls and results: numbers of `ids`.
struct ConformedMessage {
  std::vector<std::size_t> calls;
  std::optional<std::size_t> result;
};

struct ConformedConversation {
  std::vector<std::string> ids;  ///< all different, in order of their first use
  /// What each was; nothing where it was missing or empty. Views into the conversation.
  std::vector<std::optional<std::string_view>> originals;
  std::vector<ConformedMessage> messages;
};

/// Gives every call of a conversation an id of its own, and every result the id of the call that it answers.
/// What a message gets depends only on the messages up to it. Throws Error (value) at the place of an id for
/// which the format has no free one left.
[[nodiscard]] ConformedConversation conform_messages(const ToolCallIdFormat& format,
                                                     std::span<const Message> messages);

}  // namespace turnloom
