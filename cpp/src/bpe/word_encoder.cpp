#include "bpe/word_encoder.hpp"

#include <algorithm>

#include "turnloom/prompt.hpp"

namespace turnloom {

void WordEncoder::encode(std::string_view text, std::span<const std::uint32_t> ends) {
  text_ = text;
  std::size_t begin = 0;
  while (!ends.empty()) {
    for (const std::uint32_t end : ends.first(std::min(kAhead, ends.size()))) {
      const std::size_t n_bytes = end - begin;
      if (n_bytes <= WordKey<2>::kMaxBytes) {
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
  if (end - begin <= WordKey<2>::kMaxBytes) {
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
  word.key = WordKey<2>::of(text_.data() + begin, n_bytes, text_.size() - begin);
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
  if (here.n_bytes > WordKey<2>::kMaxBytes) {
    return here.n_bytes <= WordKey<4>::kMaxBytes ? look_up_medium(word) : look_up_long(word);
  }
  if (!shared_.short_words.find(words_[word].key, here.slot, tokens_[word])) return false;
  return !here.is_part || tokens_[word][1] || may_be(word, tokens_[word][0].id());
}

bool WordEncoder::look_up_medium(std::size_t word) {
  const auto& table = shared_.medium_words;
  const Word& here = words_[word];
  const auto key = WordKey<4>::of(text_.data() + here.begin, here.n_bytes, text_.size() - here.begin);
  MediumTokens found;
  if (!table.find(key, table.slot_of(key), found)) return false;
  if (!found[1] && !may_be(word, found[0].id())) return false;
  const std::size_t first = symbols_.size();
  std::uint32_t end = 0;
  for (const PackedToken token : found) {
    if (!token) break;
    end += token.n_bytes();
    symbols_.push_back({token.id(), end});
  }
  tokens_[word][0] = {};
  symbol_ranges_[word] = {first, symbols_.size()};
  return true;
}

bool WordEncoder::look_up_long(std::size_t word) {
  const std::string_view bytes = bytes_of(word);
  const std::size_t first = symbols_.size();
  tokens_[word][0] = {};
  if (const TokenId id = shared_.tables.vocabulary.find(bytes); id != kNoToken && may_be(word, id)) {
    symbols_.push_back({id, static_cast<std::uint32_t>(bytes.size())});
  } else if (bytes.size() > ShortMerger::kMaxBytes) {
    const auto& merged = long_merger_.merge(shared_.tables, bytes);
    symbols_.insert(symbols_.end(), merged.begin(), merged.end());
  } else {
    return false;
  }
  symbol_ranges_[word] = {first, symbols_.size()};
  return true;
}

void WordEncoder::merge_missed() {
  std::size_t words[kLanes];
  std::size_t n_started = 0;
  std::size_t n_lanes = 0;
  const auto start_next = [&](std::size_t lane) {
    if (n_started == n_missed_) return false;
    words[lane] = missed_[n_started++];
    mergers_[lane].start(shared_.tables, bytes_of(words[lane]));
    return true;
  };
  while (n_lanes < kLanes && start_next(n_lanes)) ++n_lanes;
  while (n_lanes > 0) {
    for (std::size_t lane = 0; lane < n_lanes;) {
      if (mergers_[lane].step(shared_.tables.merges)) {
        ++lane;
        continue;
      }
      finish_merging(words[lane], mergers_[lane]);
      if (start_next(lane)) continue;
      --n_lanes;
      mergers_[lane] = mergers_[n_lanes];
      words[lane] = words[n_lanes];
    }
  }
}

void WordEncoder::finish_merging(std::size_t word, const ShortMerger& merger) {
  const Word& here = words_[word];
  const std::size_t first = symbols_.size();
  MediumTokens tokens{};
  std::size_t n_tokens = 0;
  std::uint32_t end = 0;
  merger.for_each_token([&](TokenId id, std::size_t n_bytes) {
    if (n_tokens < tokens.size() && n_bytes <= WordKey<4>::kMaxBytes)
      tokens[n_tokens] = PackedToken::of(id, n_bytes);
    ++n_tokens;
    end += static_cast<std::uint32_t>(n_bytes);
    symbols_.push_back({id, end});
  });
  if (here.n_bytes <= WordKey<2>::kMaxBytes && n_tokens <= tokens_[word].size()) {
    std::copy_n(tokens.begin(), tokens_[word].size(), tokens_[word].begin());
    shared_.short_words.insert(words_[word].key, tokens_[word]);
    symbols_.resize(first);
    return;
  }
  tokens_[word][0] = {};
  symbol_ranges_[word] = {first, symbols_.size()};
  if (here.n_bytes > WordKey<2>::kMaxBytes && here.n_bytes <= WordKey<4>::kMaxBytes &&
      n_tokens <= tokens.size()) {
    shared_.medium_words.insert(
        WordKey<4>::of(text_.data() + here.begin, here.n_bytes, text_.size() - here.begin), tokens);
  }
}

void WordEncoder::write_tokens() {
  constexpr std::size_t kMost = kBlock * std::tuple_size_v<ShortTokens>;
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
    const ShortTokens& tokens = tokens_[i];
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
