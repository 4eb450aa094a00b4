// What token ids stand for: their spellings, and the text they decode to.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "turnloom/types.hpp"

namespace turnloom {

class TextAssembler;

/// How the tokens of a vocabulary spell text.
enum class TokenSpelling {
  byte_level,     ///< in GPT-2's byte alphabet
  byte_fallback,  ///< a space as U+2581, the bytes of a character without a token as `<0xE4>`
};

/// Tokens by spelling and by id, those added to a model included. Immutable.
class TokenTable {
 public:
  struct AddedToken {
    std::string_view spelling;
    TokenId id;
    bool special;
  };

  /// `model` holds tokens as the file spells them; one that is an added token, too, is that. Throws Error
  /// (value) for an id or a spelling that is given twice, for an id that is no id of a vocabulary, and for a
  /// token without text.
  TokenTable(std::span<const std::pair<std::string_view, TokenId>> model, std::span<const AddedToken> added,
             TokenSpelling spelling);
  TokenTable(const TokenTable&) = delete;
  TokenTable& operator=(const TokenTable&) = delete;
  ~TokenTable();

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Id of the token spelled so, or kNoToken.
  [[nodiscard]] TokenId find(std::string_view spelling) const noexcept;
  /// How the vocabulary spells a token; nothing for an id without one.
  [[nodiscard]] std::string_view spelling(TokenId id) const noexcept;

  /// What a token adds to a text; nothing for an id without one.
  [[nodiscard]] std::string_view bytes(TokenId id) const noexcept;
  /// One past the largest id.
  [[nodiscard]] TokenId end_id() const noexcept;

  /// The bytes of the tokens, one after the other. An id without a token stands for nothing, here and below.
  [[nodiscard]] std::string decode_bytes(std::span<const TokenId> ids) const;
  /// The text of the tokens, always valid UTF-8. Bytes that are none become U+FFFD: one for each maximal part
  /// of a character or, with byte fallback, one for each byte of the run of byte tokens that they are in.
  [[nodiscard]] std::string decode(std::span<const TokenId> ids, bool skip_special) const;

 private:
  friend class TextAssembler;
  struct Tables;

  std::unique_ptr<const Tables> tables_;
  std::size_t size_ = 0;
};

/// Decodes ids that come in parts. What the calls return, joined, is what `decode` gives for all ids
/// together.
class StreamDecoder {
 public:
  StreamDecoder(std::shared_ptr<const TokenTable> tokens, bool skip_special);
  StreamDecoder(const StreamDecoder&) = delete;
  StreamDecoder& operator=(const StreamDecoder&) = delete;
  ~StreamDecoder();

  /// The text that is certain by now. A character whose bytes are not all there is held back.
  [[nodiscard]] std::string feed(std::span<const TokenId> ids);
  /// The text of what was held back. The decoder then starts anew.
  [[nodiscard]] std::string finish();

 private:
  std::shared_ptr<const TokenTable> tokens_;
  std::unique_ptr<TextAssembler> assembler_;
};

}  // namespace turnloom
