// The tokens of a model by spelling and by id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bpe/packed_strings.hpp"
#include "turnloom/types.hpp"

namespace turnloom {

/// Ids are below this, so that two of them and a merge rank share 64 bits.
constexpr TokenId kMaxTokens = (TokenId{1} << 21) - 1;

struct SpelledToken {
  std::string_view bytes;
  TokenId id;
};

/// Bytes of tokens and their ids, both ways. Immutable.
class Vocabulary {
 public:
  /// No two tokens may share an id or, but for the empty one, their bytes. Throws Error (value) for an id
  /// that is negative or not below kMaxTokens, and for an id or spelling that is given twice.
  explicit Vocabulary(std::span<const SpelledToken> tokens);

  /// Id of the token with exactly these bytes, or kNoToken.
  [[nodiscard]] TokenId find(std::string_view bytes) const noexcept;
  /// Bytes of a token, none for an id that there is not.
  [[nodiscard]] std::string_view bytes(TokenId id) const noexcept;
  /// One past the largest id.
  [[nodiscard]] TokenId end_id() const noexcept { return static_cast<TokenId>(bytes_.size()); }

 private:
  struct Slot {
    TokenId id;
    std::uint32_t tag;  ///< lower bits of the hash: most other tokens differ in it
  };

  PackedStrings bytes_;      ///< by id
  std::vector<Slot> slots_;  ///< open addressing; a power of two
  int shift_ = 0;            ///< a hash shifted right by it is the index of a slot
};

}  // namespace turnloom
