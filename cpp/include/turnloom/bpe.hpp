// Encoders of byte-pair vocabularies.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "turnloom/tokenizer.hpp"

namespace turnloom {

/// What a tokenizer.json says about its model and the steps before it. Views are not kept.
struct BpeModel {
  using Merges = std::vector<std::pair<std::string_view, std::string_view>>;

  std::vector<std::pair<std::string_view, TokenId>> tokens;  ///< as the file spells them
  /// The first merges first. Without a list, as in a file of ranks, whatever makes a token merges, the token
  /// with the lowest id first.
  std::optional<Merges> merges;
  bool ignore_merges = false;  ///< a word that is a token is that token, whatever its merges say
  std::string_view split;      ///< name of the pattern that cuts a text into words
  bool nfc = false;            ///< composes the text first
};

/// The encoder of a byte-level vocabulary. Throws Error (value) for a model that is none: a byte without a
/// token, a merge of or into something that is no token, an unknown pattern.
[[nodiscard]] std::shared_ptr<TextEncoder> make_byte_level_encoder(const BpeModel& model);

/// The encoder of a vocabulary in the way of SentencePiece: a space is spelled as U+2581, a text is one word,
/// and characters without a token are spelled by the tokens of their bytes, such as `<0xE4>`. `split` and
/// `nfc` do not apply.
[[nodiscard]] std::shared_ptr<TextEncoder> make_character_encoder(const BpeModel& model);

}  // namespace turnloom
