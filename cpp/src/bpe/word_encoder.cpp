#include "bpe/word_encoder.hpp"

#include <algorithm>
#include <tuple>

#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

constexpr std::size_t kMaxMergerBytes = 64;
constexpr std::size_t kMaxShortTokens = std::tuple_size_v<WordTable::Tokens>;

}  // namespace

void WordEncoder::encode(std::string_view text, std::span<const std::uint32_t> ends) {
  text_ = text;
  std::size_t begin = 0;
  for (const std::uint32_t end : ends) {
    if (end - begin <= WordKey::kMaxBytes) {
      add_short(begin, end - begin, false);
    } else {
      add_long(begin, end - begin);
    }
    begin = end;
  }
  finish_region();
}

void WordEncoder::encode_word(std::string_view text) {
  const auto end = static_cast<std::uint32_t>(text.size());
  encode(text, {&end, 1});
}

void WordEncoder::finish_region() {
  look_up_added();
  out_.counts.push_back(n_tokens_ - region_begin_);
  region_begin_ = n_tokens_;
}

inline void WordEncoder::add_short(std::size_t begin, std::size_t n_bytes, bool is_part) {
  Word& word = words_[n_words_++];
  word.key = WordKey::of(text_.data() + begin, n_bytes, text_.size() - begin);
  word.slot = static_cast<std::uint32_t>(shared_.short_words.slot_of(word.key));
  word.begin = static_cast<std::uint32_t>(begin);
  word.n_bytes = static_cast<std::uint32_t>(n_bytes);
  word.is_part = is_part;
  shared_.short_words.prefetch(word.slot);
  if (n_words_ == kAhead) look_up_added();
}

// A long word is cut only if it is not known as a whole.
void WordEncoder::add_long(std::size_t begin, std::size_t n_bytes) {
  const Word word{{}, 0, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(n_bytes), false};
  part_ends_.clear();
  if (find_long(word).empty()) {
    shared_.borders.cut(text_.substr(begin, n_bytes), begin, part_ends_);
  } else {
    part_ends_.push_back(static_cast<std::uint32_t>(begin + n_bytes));
  }
  for (const std::uint32_t end : part_ends_) {
    if (end - begin <= WordKey::kMaxBytes) {
      add_short(begin, end - begin, true);
    } else {
      add_uncut(begin, end - begin, part_ends_.size() > 1);
    }
    begin = end;
  }
}

void WordEncoder::add_uncut(std::size_t begin, std::size_t n_bytes, bool is_part) {
  words_[n_words_++] = {
      {}, 0, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(n_bytes), is_part};
  if (n_words_ == kAhead) look_up_added();
}

void WordEncoder::look_up_added() {
  make_room(kAhead * kMaxShortTokens);
  for (std::size_t i = 0; i < n_words_;) {
    i = write_known(i);
    if (i == n_words_) break;
    const Word& word = words_[i++];
    WordTable::Tokens tokens;
    if (word.n_bytes > WordKey::kMaxBytes || shared_.short_words.find(word.key, word.slot, tokens)) {
      look_up_long(word);
    } else {
      leave_gap(word);
    }
  }
  n_words_ = 0;
}

// Writes the tokens of short words from the word `i` on. Returns the first that is not known, or not from the
// table of short words.
std::size_t WordEncoder::write_known(std::size_t i) {
  std::size_t n = n_tokens_;
  for (; i < n_words_; ++i) {
    const Word& word = words_[i];
    WordTable::Tokens tokens;
    if (word.n_bytes > WordKey::kMaxBytes || !shared_.short_words.find(word.key, word.slot, tokens)) break;
    if (tokens[0].is_too_many() || (word.is_part && !tokens[1] && !may_be(word, tokens[0].id()))) break;
    std::uint32_t begin = word.begin;
    for (std::size_t k = 0; k < kMaxShortTokens && tokens[k]; ++k) {
      ids_[n] = tokens[k].id();
      begins_[n] = begin;
      begin += tokens[k].n_bytes();
      ends_[n] = begin;
      ++n;
    }
  }
  n_tokens_ = n;
  return i;
}

std::span<const Symbol> WordEncoder::find_long(const Word& word) const {
  const std::span<const Symbol> symbols = shared_.long_words.find(text_.substr(word.begin, word.n_bytes));
  return symbols.size() == 1 && !may_be(word, symbols[0].id) ? std::span<const Symbol>() : symbols;
}

void WordEncoder::look_up_long(const Word& word) {
  if (const std::span<const Symbol> symbols = find_long(word); !symbols.empty()) {
    write(word, symbols);
  } else {
    leave_gap(word);
  }
}

// A part of a word is what its merges make of it, even if it is a token and the vocabulary ignores merges.
bool WordEncoder::may_be(const Word& word, TokenId id) const {
  return (shared_.tables.ignore_merges && !word.is_part) || shared_.is_whole[static_cast<std::size_t>(id)];
}

void WordEncoder::make_room(std::size_t n_tokens) {
  if (out_.ids.size() < n_tokens_ + n_tokens) {
    const std::size_t n = std::max(2 * out_.ids.size(), n_tokens_ + 2 * n_tokens);
    out_.ids.resize(n);
    out_.begins.resize(n);
    out_.ends.resize(n);
  }
  ids_ = out_.ids.data();
  begins_ = out_.begins.data();
  ends_ = out_.ends.data();
}

void WordEncoder::write(const Word& word, std::span<const Symbol> symbols) {
  make_room(symbols.size() + kAhead * kMaxShortTokens);
  std::uint32_t begin = word.begin;
  for (const Symbol& symbol : symbols) {
    ids_[n_tokens_] = symbol.id;
    begins_[n_tokens_] = begin;
    ends_[n_tokens_] = begin = word.begin + symbol.end;
    ++n_tokens_;
  }
}

void WordEncoder::leave_gap(const Word& word) {
  const std::string_view bytes = text_.substr(word.begin, word.n_bytes);
  if (bytes.size() > kMaxMergerBytes) {
    const std::vector<Symbol>& symbols = long_merger_.merge(shared_.tables, bytes);
    shared_.long_words.insert(bytes, symbols);
    write(word, symbols);
    return;
  }
  Gap& gap = gaps_[n_gaps_++];
  gap.key = word.key;
  gap.bytes = bytes.data();
  gap.begin = word.begin;
  gap.n_bytes = word.n_bytes;
  gap.region = out_.counts.size();
  gap.at = n_tokens_;
  if (n_gaps_ == kMaxGaps) fill_gaps();
}

// From the last gap to the first, so that every token is moved once.
void WordEncoder::fill_gaps() {
  std::array<Gap*, kMaxGaps> gaps;
  for (std::size_t i = 0; i < n_gaps_; ++i) gaps[i] = &gaps_[i];
  const std::span missed = std::span(gaps).first(n_gaps_);
  const auto longer =
      std::ranges::partition(missed, [](const Gap* gap) { return gap->n_bytes <= WordKey::kMaxBytes; });
  merge_side_by_side<16>(missed.first(n_gaps_ - longer.size()));
  merge_side_by_side<kMaxMergerBytes>(missed.last(longer.size()));

  std::size_t n_missing = 0;
  for (const Gap* gap : missed) n_missing += gap->n_symbols;
  make_room(n_missing + kAhead * kMaxShortTokens);
  std::size_t end = n_tokens_;
  n_tokens_ += n_missing;
  for (; n_gaps_ > 0; --n_gaps_) {
    const Gap& gap = gaps_[n_gaps_ - 1];
    const auto move = [&](auto* column) {
      std::copy_backward(column + gap.at, column + end, column + end + n_missing);
    };
    move(ids_);
    move(begins_);
    move(ends_);
    end = gap.at;
    n_missing -= gap.n_symbols;
    std::uint32_t begin = gap.begin;
    for (std::size_t i = 0; i < gap.n_symbols; ++i) {
      const std::size_t token = end + n_missing + i;
      ids_[token] = gap.symbols[i].id;
      begins_[token] = begin;
      ends_[token] = begin = gap.begin + gap.symbols[i].end;
    }
    if (gap.region < out_.counts.size()) {
      out_.counts[gap.region] += gap.n_symbols;
      region_begin_ += gap.n_symbols;
    }
  }
}

void WordEncoder::finish() {
  fill_gaps();
  out_.ids.resize(n_tokens_);
  out_.begins.resize(n_tokens_);
  out_.ends.resize(n_tokens_);
}

template <std::size_t kMaxBytes>
void WordEncoder::merge_side_by_side(std::span<Gap* const> gaps) {
  const MergeTable& table = shared_.tables.merges;
  std::array<ShortMerger<kMaxBytes>, kLanes> mergers;
  std::array<Gap*, kLanes> merged;
  std::size_t n_lanes = 0;
  const auto start_next = [&](std::size_t lane) {
    if (gaps.empty()) return false;
    merged[lane] = gaps.front();
    gaps = gaps.subspan(1);
    mergers[lane].start(shared_.tables, {merged[lane]->bytes, merged[lane]->n_bytes});
    return true;
  };
  while (n_lanes < kLanes && start_next(n_lanes)) ++n_lanes;
  while (n_lanes > 0) {
    for (std::size_t lane = 0; lane < n_lanes; ++lane) mergers[lane].look_up(table);
    for (std::size_t lane = 0; lane < n_lanes;) {
      if (!mergers[lane].merge(table)) {
        keep(mergers[lane], *merged[lane]);
        if (!start_next(lane)) {
          --n_lanes;
          mergers[lane] = mergers[n_lanes];
          merged[lane] = merged[n_lanes];
          continue;
        }
      }
      ++lane;
    }
  }
}

template <std::size_t kMaxBytes>
void WordEncoder::keep(const ShortMerger<kMaxBytes>& merger, Gap& gap) {
  std::uint32_t end = 0;
  gap.n_symbols = 0;
  merger.for_each_token([&](TokenId id, std::size_t n_bytes) {
    end += static_cast<std::uint32_t>(n_bytes);
    gap.symbols[gap.n_symbols++] = {id, end};
  });
  const std::span symbols = std::span(gap.symbols).first(gap.n_symbols);
  if (gap.n_bytes <= WordKey::kMaxBytes) {
    WordTable::Tokens tokens{};
    if (symbols.size() > tokens.size()) {
      tokens[0] = PackedToken::too_many();
    } else {
      for (std::size_t i = 0; i < symbols.size(); ++i) {
        tokens[i] = PackedToken::of(symbols[i].id, symbols[i].end - (i == 0 ? 0 : symbols[i - 1].end));
      }
    }
    shared_.short_words.insert(gap.key, tokens);
    if (symbols.size() <= tokens.size()) return;
  }
  shared_.long_words.insert({gap.bytes, gap.n_bytes}, symbols);
}

}  // namespace turnloom
