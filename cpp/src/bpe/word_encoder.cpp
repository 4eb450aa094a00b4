#include "bpe/word_encoder.hpp"

#include <algorithm>

#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

constexpr std::size_t kMaxMergerBytes = 64;

}  // namespace

void WordEncoder::encode(std::string_view text, std::span<const std::uint32_t> ends) {
  text_ = text;
  std::size_t begin = 0;
  while (!ends.empty()) {
    for (const std::uint32_t end : ends.first(std::min(kAhead, ends.size()))) {
      const std::size_t n_bytes = end - begin;
      if (n_bytes <= WordKey::kMaxBytes) {
        add_short(begin, n_bytes, false);
      } else {
        add_long(begin, end);
      }
      begin = end;
    }
    ends = ends.subspan(std::min(kAhead, ends.size()));
    look_up_added();
  }
  finish_block();
}

void WordEncoder::encode_word(std::string_view text) {
  text_ = text;
  add_long(0, text.size());
  look_up_added();
  finish_block();
}

void WordEncoder::add_long(std::size_t begin, std::size_t end) {
  part_ends_.clear();
  shared_.borders.cut(text_.substr(begin, end - begin), begin, part_ends_);
  for (const std::uint32_t part_end : part_ends_) {
    add(begin, part_end, part_ends_.size() > 1);
    begin = part_end;
  }
}

void WordEncoder::add(std::size_t begin, std::size_t end, bool is_part) {
  if (end - begin <= WordKey::kMaxBytes) {
    add_short(begin, end - begin, is_part);
  } else {
    Word& word = new_word();
    word.begin = static_cast<std::uint32_t>(begin);
    word.n_bytes = static_cast<std::uint32_t>(end - begin);
    word.is_part = is_part;
  }
}

inline void WordEncoder::add_short(std::size_t begin, std::size_t n_bytes, bool is_part) {
  Word& word = new_word();
  word.key = WordKey::of(text_.data() + begin, n_bytes, text_.size() - begin);
  word.begin = static_cast<std::uint32_t>(begin);
  word.n_bytes = static_cast<std::uint32_t>(n_bytes);
  word.slot = static_cast<std::uint32_t>(shared_.short_words.slot_of(word.key));
  word.is_part = is_part;
  shared_.short_words.prefetch(word.slot);
}

inline WordEncoder::Word& WordEncoder::new_word() {
  if (n_words_ == kBlock) {
    look_up_added();
    finish_block();
  }
  return words_[n_words_++];
}

void WordEncoder::look_up_added() {
  for (; n_looked_up_ < n_words_; ++n_looked_up_) {
    if (!look_up(n_looked_up_)) missed_[n_missed_++] = static_cast<std::uint16_t>(n_looked_up_);
  }
}

void WordEncoder::finish_block() {
  if (n_missed_ > 0) merge_missed();
  write_tokens();
  n_words_ = 0;
  n_looked_up_ = 0;
  n_missed_ = 0;
  symbols_.clear();
}

// A part of a word is what its merges make of it, even if it is a token and the vocabulary ignores merges.
bool WordEncoder::may_be(std::size_t word, TokenId id) const {
  return (shared_.tables.ignore_merges && !words_[word].is_part) ||
         shared_.is_whole[static_cast<std::size_t>(id)];
}

inline bool WordEncoder::look_up(std::size_t word) {
  const Word& here = words_[word];
  if (here.n_bytes > WordKey::kMaxBytes) return look_up_long(word);
  if (!shared_.short_words.find(here.key, here.slot, tokens_[word])) return false;
  if (tokens_[word][0].is_too_many()) return look_up_long(word);
  return !here.is_part || tokens_[word][1] || may_be(word, tokens_[word][0].id());
}

bool WordEncoder::look_up_long(std::size_t word) {
  const std::string_view bytes = bytes_of(word);
  std::span<const Symbol> symbols = shared_.long_words.find(bytes);
  if (symbols.size() == 1 && !may_be(word, symbols[0].id)) symbols = {};
  if (symbols.empty() && bytes.size() > kMaxMergerBytes) {
    symbols = long_merger_.merge(shared_.tables, bytes);
    shared_.long_words.insert(bytes, symbols);
  }
  if (symbols.empty()) return false;
  keep_symbols(word, symbols);
  return true;
}

void WordEncoder::keep_symbols(std::size_t word, std::span<const Symbol> symbols) {
  tokens_[word][0] = {};
  symbol_ranges_[word] = {symbols_.size(), symbols_.size() + symbols.size()};
  symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
}

// Short words first, then the others: a merger of either kind knows how far it has to look.
void WordEncoder::merge_missed() {
  const std::span missed(missed_, n_missed_);
  const auto others = std::ranges::partition(
      missed, [&](std::size_t word) { return words_[word].n_bytes <= WordKey::kMaxBytes; });
  merge_words(missed.first(missed.size() - others.size()), mergers_);
  merge_words(missed.last(others.size()), medium_mergers_);
}

template <std::size_t kMaxBytes>
void WordEncoder::merge_words(std::span<const std::uint16_t> words,
                              std::array<ShortMerger<kMaxBytes>, kLanes>& mergers) {
  const MergeTable& table = shared_.tables.merges;
  std::array<std::size_t, kLanes> lanes;
  std::size_t n_lanes = 0;
  const auto start_next = [&](std::size_t lane) {
    if (words.empty()) return false;
    lanes[lane] = words.front();
    words = words.subspan(1);
    mergers[lane].start(shared_.tables, bytes_of(lanes[lane]));
    return true;
  };
  while (n_lanes < kLanes && start_next(n_lanes)) ++n_lanes;
  while (n_lanes > 0) {
    for (std::size_t lane = 0; lane < n_lanes; ++lane) mergers[lane].look_up(table);
    for (std::size_t lane = 0; lane < n_lanes;) {
      if (!mergers[lane].merge(table)) {
        finish_merging(lanes[lane], mergers[lane]);
        if (!start_next(lane)) {
          --n_lanes;
          mergers[lane] = mergers[n_lanes];
          lanes[lane] = lanes[n_lanes];
          continue;
        }
      }
      ++lane;
    }
  }
}

template <std::size_t kMaxBytes>
void WordEncoder::finish_merging(std::size_t word, const ShortMerger<kMaxBytes>& merger) {
  std::array<Symbol, kMaxBytes> symbols;
  WordTable::Tokens tokens{};
  std::size_t n_tokens = 0;
  std::uint32_t end = 0;
  merger.for_each_token([&](TokenId id, std::size_t n_bytes) {
    if (n_tokens < tokens.size()) tokens[n_tokens] = PackedToken::of(id, n_bytes);
    end += static_cast<std::uint32_t>(n_bytes);
    symbols[n_tokens++] = {id, end};
  });
  if (n_tokens > tokens.size()) tokens = {PackedToken::too_many()};
  if (words_[word].n_bytes <= WordKey::kMaxBytes) {
    tokens_[word] = tokens;
    shared_.short_words.insert(words_[word].key, tokens);
    if (n_tokens <= tokens.size()) return;
  }
  keep_symbols(word, std::span(symbols).first(n_tokens));
  shared_.long_words.insert(bytes_of(word), std::span(symbols).first(n_tokens));
}

void WordEncoder::write_tokens() {
  constexpr std::size_t kMost = kBlock * std::tuple_size_v<WordTable::Tokens>;
  TokenId ids[kMost];
  std::uint32_t begins[kMost];
  std::uint32_t ends[kMost];
  std::size_t n = 0;
  const auto write = [&] {
    out_.ids.insert(out_.ids.end(), ids, ids + n);
    out_.begins.insert(out_.begins.end(), begins, begins + n);
    out_.ends.insert(out_.ends.end(), ends, ends + n);
    n = 0;
  };
  for (std::size_t i = 0; i < n_words_; ++i) {
    std::uint32_t begin = words_[i].begin;
    const WordTable::Tokens& tokens = tokens_[i];
    if (!tokens[0]) {
      write();
      for (std::size_t k = symbol_ranges_[i].begin; k < symbol_ranges_[i].end; ++k) {
        out_.ids.push_back(symbols_[k].id);
        out_.begins.push_back(begin);
        begin = words_[i].begin + symbols_[k].end;
        out_.ends.push_back(begin);
      }
      continue;
    }
    for (const PackedToken token : tokens) {
      if (!token) break;
      ids[n] = token.id();
      begins[n] = begin;
      begin += token.n_bytes();
      ends[n] = begin;
      ++n;
    }
  }
  write();
}

}  // namespace turnloom
