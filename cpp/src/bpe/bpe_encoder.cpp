#include "bpe/bpe_encoder.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bpe/merge.hpp"
#include "bpe/nfc.hpp"
#include "bpe/word_encoder.hpp"
#include "turnloom/bpe.hpp"
#include "turnloom/error.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

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

// Room for the vocabulary and at least as many words again.
std::size_t n_short_slots(const Vocabulary& vocabulary) {
  return std::bit_ceil(std::max<std::size_t>(1U << 16, 2 * static_cast<std::size_t>(vocabulary.end_id())));
}

}  // namespace

BpeEncoder::BpeEncoder(BpeTables tables, std::optional<SplitPattern> split, bool nfc)
    : tables_(std::move(tables)),
      borders_(tables_.vocabulary),
      split_(split),
      nfc_(nfc),
      is_whole_(static_cast<std::size_t>(tables_.vocabulary.end_id())),
      short_words_(n_short_slots(tables_.vocabulary)),
      long_words_(1U << 16, 1U << 22) {
  seed();
}

void BpeEncoder::seed() {
  find_whole<16>(1);
  find_whole<64>(17);
  LongMerger merger;
  for (TokenId id = 0; id < tables_.vocabulary.end_id(); ++id) {
    const std::string_view bytes = tables_.vocabulary.bytes(id);
    if (bytes.empty()) continue;
    std::vector<bool>::reference is_whole = is_whole_[static_cast<std::size_t>(id)];
    if (bytes.size() > 64) is_whole = merger.merge(tables_, bytes).size() == 1;
    if (!is_whole && !tables_.ignore_merges) continue;
    if (bytes.size() <= WordKey::kMaxBytes) {
      short_words_.insert(WordKey::of(bytes.data(), bytes.size(), bytes.size()),
                          {PackedToken::of(id, bytes.size())});
    } else {
      const Symbol symbol{id, static_cast<std::uint32_t>(bytes.size())};
      long_words_.insert(bytes, {&symbol, 1});
    }
  }
}

// Among the tokens of `min_bytes` and more, up to what the merger takes.
template <std::size_t kMaxBytes>
void BpeEncoder::find_whole(std::size_t min_bytes) {
  struct Item {
    std::string_view bytes;
    TokenId id;
  };
  TokenId id = 0;
  const auto next = [&]() -> std::optional<Item> {
    for (; id < tables_.vocabulary.end_id(); ++id) {
      const std::string_view bytes = tables_.vocabulary.bytes(id);
      if (bytes.size() >= min_bytes && bytes.size() <= kMaxBytes) return Item{bytes, id++};
    }
    return std::nullopt;
  };
  merge_side_by_side<kMaxBytes, Item>(tables_, next,
                                      [&](const ShortMerger<kMaxBytes>& merger, const Item& item) {
                                        is_whole_[static_cast<std::size_t>(item.id)] = merger.is_one_token();
                                      });
}

void BpeEncoder::encode(std::span<const std::string_view> regions, EncodedRegions& out) const {
  WordEncoder words({tables_, borders_, is_whole_, short_words_, long_words_}, out);
  std::size_t n_bytes = 0;
  for (const std::string_view region : regions) n_bytes += region.size();
  words.reserve(n_bytes);
  std::vector<std::uint32_t> ends;
  const auto encode_text = [&](std::string_view text) {
    if (split_) {
      split(*split_, text, ends);
      words.encode(text, ends);
    } else {
      words.encode_word(text);
    }
  };
  NormalisedText normalised;
  for (const std::string_view region : regions) {
    if (!needs_normalising(region)) {
      encode_text(region);
      continue;
    }
    nfc_ ? normalise(region, normalised) : spaces_for_symbols(region, normalised);
    words.fill_gaps();
    const std::size_t first = words.n_tokens();
    encode_text(normalised.text);
    words.fill_gaps();
    std::size_t chunk = 0;
    for (std::size_t i = first; i < words.n_tokens(); ++i) {
      const auto [begin, end] = normalised.source_of(out.begins[i], out.ends[i], chunk);
      out.begins[i] = static_cast<std::uint32_t>(begin);
      out.ends[i] = static_cast<std::uint32_t>(end);
    }
  }
  words.finish();
}

bool BpeEncoder::needs_normalising(std::string_view region) const {
  if (nfc_) return !is_nfc(region);
  return tables_.by_characters && region.find(kSpaceSymbol) != std::string_view::npos;
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
