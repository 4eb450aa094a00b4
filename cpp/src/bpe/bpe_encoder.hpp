// The text encoder of byte-pair vocabularies.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "bpe/bpe_tables.hpp"
#include "bpe/pretokenizer.hpp"
#include "turnloom/tokenizer.hpp"

namespace turnloom {

class BpeEncoder final : public TextEncoder {
 public:
  /// Without a pattern a text is one word.
  BpeEncoder(BpeTables tables, std::optional<SplitPattern> split, bool nfc);
  void encode(std::span<const std::string_view> regions, EncodedRegions& out) const override;

 private:
  [[nodiscard]] bool needs_normalising(std::string_view region) const;
  void encode_text(std::string_view text, EncodedRegions& out) const;

  BpeTables tables_;
  std::optional<SplitPattern> split_;
  bool nfc_;
};

}  // namespace turnloom
