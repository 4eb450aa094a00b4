#include "turnloom/token_table.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "bpe/byte_alphabet.hpp"
#include "bpe/packed_strings.hpp"
#include "bpe/utf8_prefix.hpp"
#include "bpe/vocabulary.hpp"
#include "turnloom/error.hpp"

namespace turnloom {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";
constexpr std::string_view kSpaceSymbol = "\u2581";

std::string spaces_for_symbols(std::string_view spelling) {
  std::string text;
  std::size_t begin = 0;
  for (std::size_t symbol; (symbol = spelling.find(kSpaceSymbol, begin)) != std::string_view::npos;) {
    text += spelling.substr(begin, symbol - begin);
    text += ' ';
    begin = symbol + kSpaceSymbol.size();
  }
  return text += spelling.substr(begin);
}

// The byte of a spelling such as `<0xE4>`.
std::optional<char> byte_of(std::string_view spelling) {
  if (spelling.size() != 6 || !spelling.starts_with("<0x") || spelling.back() != '>') return std::nullopt;
  unsigned byte = 0;
  const auto [end, error] = std::from_chars(spelling.data() + 3, spelling.data() + 5, byte, 16);
  if (error != std::errc() || end != spelling.data() + 5) return std::nullopt;
  return static_cast<char>(byte);
}

}  // namespace

struct TokenTable::Tables {
  Vocabulary spellings;
  PackedStrings texts;           ///< what tokens decode to, by id
  std::vector<bool> is_special;  ///< by id
  std::vector<bool> is_byte;     ///< by id: a byte of a character that has no token
  std::vector<TokenId>
      mistaken;  ///< added tokens, sorted, that decode as if they were spelled in the alphabet
  TokenSpelling spelling;

  [[nodiscard]] std::string_view bytes(TokenId id) const {
    const auto index = static_cast<std::size_t>(id);
    return std::ranges::binary_search(mistaken, id) ? spellings.bytes(id) : texts[index];
  }
  [[nodiscard]] bool has(TokenId id) const noexcept { return id >= 0 && id < spellings.end_id(); }
};

TokenTable::TokenTable(std::span<const std::pair<std::string_view, TokenId>> model,
                       std::span<const AddedToken> added, TokenSpelling spelling) {
  std::set<std::string_view> added_spellings;
  std::vector<SpelledToken> tokens;
  tokens.reserve(model.size() + added.size());
  for (const AddedToken& token : added) {
    added_spellings.insert(token.spelling);
    tokens.push_back({token.spelling, token.id});
  }
  for (const auto& [text, id] : model) {
    if (!added_spellings.contains(text)) tokens.push_back({text, id});
  }
  if (std::ranges::any_of(tokens, &std::string_view::empty, &SpelledToken::bytes)) {
    throw Error(ErrorKind::value, "vocabulary", "a token without text");
  }
  size_ = tokens.size();
  Vocabulary spellings(tokens);

  const auto n = static_cast<std::size_t>(spellings.end_id());
  std::vector<std::string> texts(n);
  std::vector<bool> is_byte(n);
  for (const auto& [text, id] : tokens) {
    const auto index = static_cast<std::size_t>(id);
    if (spelling == TokenSpelling::byte_level) {
      texts[index] = alphabet_to_bytes(text).value_or(std::string(text));
    } else if (const std::optional<char> byte = byte_of(text)) {
      texts[index] = *byte;
      is_byte[index] = true;
    } else {
      texts[index] = spaces_for_symbols(text);
    }
  }
  std::vector<bool> is_special(n);
  std::vector<TokenId> mistaken;
  for (const AddedToken& token : added) {
    const auto index = static_cast<std::size_t>(token.id);
    is_special[index] = token.special;
    if (spelling == TokenSpelling::byte_level && texts[index] != token.spelling) mistaken.push_back(token.id);
  }
  std::ranges::sort(mistaken);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  tables_ =
      std::make_unique<const Tables>(Tables{std::move(spellings), PackedStrings(views), std::move(is_special),
                                            std::move(is_byte), std::move(mistaken), spelling});
}

TokenTable::~TokenTable() = default;

TokenId TokenTable::find(std::string_view spelling) const noexcept {
  return tables_->spellings.find(spelling);
}

std::string_view TokenTable::spelling(TokenId id) const noexcept { return tables_->spellings.bytes(id); }

std::string_view TokenTable::bytes(TokenId id) const noexcept {
  return tables_->has(id) ? tables_->bytes(id) : std::string_view();
}

TokenId TokenTable::end_id() const noexcept { return tables_->spellings.end_id(); }

std::string TokenTable::decode_bytes(std::span<const TokenId> ids) const {
  std::string bytes;
  for (const TokenId id : ids) {
    if (tables_->has(id)) bytes += tables_->bytes(id);
  }
  return bytes;
}

/// Turns tokens into text as they come.
class TextAssembler {
 public:
  TextAssembler(const TokenTable& tokens, bool skip_special)
      : tables_(*tokens.tables_), skip_special_(skip_special) {}

  void add(std::span<const TokenId> ids) {
    const bool fallback = tables_.spelling == TokenSpelling::byte_fallback;
    for (const TokenId id : ids) {
      if (!tables_.has(id)) continue;
      const auto index = static_cast<std::size_t>(id);
      if (skip_special_ && tables_.is_special[index]) continue;
      if (fallback && !tables_.is_byte[index]) {
        end_byte_run();
        text_ += tables_.texts[index];
      } else {
        bytes_ += tables_.texts[index];
      }
    }
    if (!fallback) take_characters();
  }

  /// The text so far.
  std::string take() { return std::exchange(text_, {}); }

  void finish() {
    if (tables_.spelling == TokenSpelling::byte_fallback) {
      end_byte_run();
    } else if (!std::exchange(bytes_, {}).empty()) {
      text_ += kReplacement;
    }
  }

 private:
  // The bytes of a run are text only if all of them are.
  void end_byte_run() {
    if (bytes_.empty()) return;
    if (utf8_prefix(bytes_).n_valid == bytes_.size()) {
      text_ += bytes_;
    } else {
      for (std::size_t i = 0; i < bytes_.size(); ++i) text_ += kReplacement;
    }
    bytes_.clear();
  }

  // Leaves the bytes that more of them may complete.
  void take_characters() {
    std::string_view rest = bytes_;
    while (!rest.empty()) {
      const Utf8Prefix prefix = utf8_prefix(rest);
      if (prefix.n_valid == bytes_.size() && text_.empty()) {
        text_.swap(bytes_);
        return;
      }
      text_ += rest.substr(0, prefix.n_valid);
      rest.remove_prefix(prefix.n_valid);
      if (prefix.may_continue) break;
      if (prefix.n_partial > 0) text_ += kReplacement;
      rest.remove_prefix(prefix.n_partial);
    }
    bytes_.erase(0, bytes_.size() - rest.size());
  }

  const TokenTable::Tables& tables_;
  const bool skip_special_;
  std::string bytes_;  ///< not text yet
  std::string text_;
};

std::string TokenTable::decode(std::span<const TokenId> ids, bool skip_special) const {
  TextAssembler assembler(*this, skip_special);
  assembler.add(ids);
  assembler.finish();
  return assembler.take();
}

StreamDecoder::StreamDecoder(std::shared_ptr<const TokenTable> tokens, bool skip_special)
    : tokens_(std::move(tokens)), assembler_(std::make_unique<TextAssembler>(*tokens_, skip_special)) {}

StreamDecoder::~StreamDecoder() = default;

std::string StreamDecoder::feed(std::span<const TokenId> ids) {
  assembler_->add(ids);
  return assembler_->take();
}

std::string StreamDecoder::finish() {
  assembler_->finish();
  return assembler_->take();
}

}  // namespace turnloom
