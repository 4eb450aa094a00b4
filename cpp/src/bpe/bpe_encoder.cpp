#include "bpe/bpe_encoder.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bpe/merge.hpp"
#include "bpe/nfc.hpp"
#include "turnloom/bpe.hpp"
#include "turnloom/error.hpp"
#include "turnloom/prompt.hpp"
#include "utf8.hpp"

namespace turnloom {
namespace {

void first_symbols(const BpeTables& tables, std::string_view word, std::vector<Symbol>& symbols) {
  symbols.clear();
  for (std::size_t i = 0; i < word.size();) {
    if (tables.by_characters) {
      const std::size_t end = i + decode_code_point(word, i).n_bytes;
      if (const TokenId id = tables.vocabulary.find(word.substr(i, end - i)); id != kNoToken) {
        symbols.push_back({id, static_cast<std::uint32_t>(end)});
        i = end;
        continue;
      }
      for (; i < end; ++i) {
        symbols.push_back({tables.byte_tokens[static_cast<unsigned char>(word[i])], static_cast<std::uint32_t>(i + 1)});
      }
      continue;
    }
    symbols.push_back({tables.byte_tokens[static_cast<unsigned char>(word[i])], static_cast<std::uint32_t>(i + 1)});
    ++i;
  }
}

constexpr std::string_view kSpaceSymbol = "\u2581";

// The tables take a space for the symbol, so a text is rewritten only where it has the symbol itself.
void spaces_for_symbols(std::string_view source, NormalisedText& out) {
  out.text.clear();
  out.chunks.clear();
  const auto add = [&](std::string_view text, std::size_t begin, std::size_t end, bool verbatim) {
    if (text.empty()) return;
    out.chunks.push_back({static_cast<std::uint32_t>(out.text.size()), static_cast<std::uint32_t>(begin),
                          static_cast<std::uint32_t>(end), verbatim});
    out.text += text;
  };
  std::size_t begin = 0;
  while (begin < source.size()) {
    const std::size_t symbol = std::min(source.find(kSpaceSymbol, begin), source.size());
    add(source.substr(begin, symbol - begin), begin, symbol, true);
    begin = symbol;
    if (symbol == source.size()) break;
    begin += kSpaceSymbol.size();
    add(" ", symbol, begin, false);
  }
}

}  // namespace

BpeEncoder::BpeEncoder(BpeTables tables, std::optional<SplitPattern> split, bool nfc)
    : tables_(std::move(tables)), split_(split), nfc_(nfc) {}

void BpeEncoder::encode(std::span<const std::string_view> regions, EncodedRegions& out) const {
  out.clear();
  NormalisedText normalised;
  for (const std::string_view region : regions) {
    const std::size_t first = out.ids.size();
    if (needs_normalising(region)) {
      nfc_ ? normalise(region, normalised) : spaces_for_symbols(region, normalised);
      encode_text(normalised.text, out);
      std::size_t chunk = 0;
      for (std::size_t i = first; i < out.ids.size(); ++i) {
        const auto [begin, end] = normalised.source_of(static_cast<std::size_t>(out.begins[i]),
                                                       static_cast<std::size_t>(out.ends[i]), chunk);
        out.begins[i] = static_cast<std::int64_t>(begin);
        out.ends[i] = static_cast<std::int64_t>(end);
      }
    } else {
      encode_text(region, out);
    }
    out.counts.push_back(out.ids.size() - first);
  }
}

bool BpeEncoder::needs_normalising(std::string_view region) const {
  if (nfc_) return !is_nfc(region);
  return tables_.by_characters && region.find(kSpaceSymbol) != std::string_view::npos;
}

void BpeEncoder::encode_text(std::string_view text, EncodedRegions& out) const {
  std::vector<std::uint32_t> ends{static_cast<std::uint32_t>(text.size())};
  std::vector<Symbol> symbols;
  Merger merger;
  if (split_) split(*split_, text, ends);
  std::size_t begin = 0;
  for (const std::uint32_t end : ends) {
    const std::string_view word = text.substr(begin, end - begin);
    const TokenId whole = tables_.ignore_merges ? tables_.vocabulary.find(word) : kNoToken;
    if (whole != kNoToken) {
      symbols.assign(1, {whole, static_cast<std::uint32_t>(word.size())});
    } else {
      first_symbols(tables_, word, symbols);
      merger.merge(tables_.merges, symbols);
    }
    std::size_t token_begin = begin;
    for (const Symbol& symbol : symbols) {
      out.ids.push_back(symbol.id);
      out.begins.push_back(static_cast<std::int64_t>(token_begin));
      token_begin = begin + symbol.end;
      out.ends.push_back(static_cast<std::int64_t>(token_begin));
    }
    begin = end;
  }
}

std::shared_ptr<TextEncoder> make_byte_level_encoder(const BpeModel& model) {
  const std::optional<SplitPattern> split = split_pattern_of(model.split);
  if (!split) throw Error(ErrorKind::key, "split", "unknown pattern '" + std::string(model.split) + "'");
  return std::make_shared<BpeEncoder>(read_byte_level(model), split, model.nfc);
}

std::shared_ptr<TextEncoder> make_character_encoder(const BpeModel& model) {
  return std::make_shared<BpeEncoder>(read_characters(model), std::nullopt, false);
}

}  // namespace turnloom
