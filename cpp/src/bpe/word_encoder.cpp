#include "bpe/word_encoder.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>

#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

constexpr std::size_t kMaxMergerBytes = 64;
constexpr std::size_t kMaxShortTokens = std::tuple_size_v<WordTable::Tokens>;

}  // namespace

void WordEncoder::reserve(std::size_t n_bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  const std::size_t n = std::min(n_bytes / 3, kMost);
  out_.ids.reserve(n);
  out_.begins.reserve(n);
  out_.ends.reserve(n);
}

void WordEncoder::encode(std::string_view text, std::span<const std::uint32_t> ends) {
  text_ = text;
  Queue queue;
  std::size_t begin = 0;
  for (const std::uint32_t end : ends) {
    const std::size_t n_bytes = end - begin;
    if (n_bytes <= WordKey::kMaxBytes) {
      add_short(queue, WordKey::of(text.data() + begin, n_bytes, text.size() - begin), begin);
    } else {
      add_long(queue, begin, n_bytes);
    }
    begin = end;
  }
  write_all(queue);
  out_.counts.push_back(n_tokens_ - region_begin_);
  region_begin_ = n_tokens_;
}

void WordEncoder::encode_word(std::string_view text) {
  const auto end = static_cast<std::uint32_t>(text.size());
  encode(text, {&end, 1});
}

inline void WordEncoder::add_short(Queue& queue, const WordKey& key, std::size_t begin) {
  const std::size_t slot = shared_.short_words.slot_of(key);
  shared_.short_words.prefetch(slot);
  queue.words[queue.n] = {key, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(slot)};
  if (++queue.n == kAhead) write_all(queue);
}

// A long word is cut only if it is not known as a whole.
void WordEncoder::add_long(Queue& queue, std::size_t begin, std::size_t n_bytes) {
  Word word{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(n_bytes), false};
  part_ends_.clear();
  if (find_long(word).empty()) {
    shared_.borders.cut(text_.substr(begin, n_bytes), begin, part_ends_);
    word.is_part = part_ends_.size() > 1;
  }
  if (!word.is_part) {
    add_other(queue, word);
    return;
  }
  for (const std::uint32_t end : part_ends_) {
    word.n_bytes = end - word.begin;
    if (word.n_bytes > WordKey::kMaxBytes || shared_.tables.ignore_merges) {
      add_other(queue, word);
    } else {
      add_short(queue, key_of(word), word.begin);
    }
    word.begin = end;
  }
}

void WordEncoder::add_other(Queue& queue, const Word& word) {
  if (word.n_bytes <= WordKey::kMaxBytes)
    shared_.short_words.prefetch(shared_.short_words.slot_of(key_of(word)));
  queue.words[queue.n] = {{word.n_bytes, word.is_part}, word.begin, kNoSlot};
  if (++queue.n == kAhead) write_all(queue);
}

WordEncoder::Word WordEncoder::word_of(const Queued& queued) {
  if (queued.slot != kNoSlot) return {queued.begin, static_cast<std::uint32_t>(queued.key.n_bytes()), false};
  return {queued.begin, static_cast<std::uint32_t>(queued.key.low), queued.key.high != 0};
}

WordKey WordEncoder::key_of(const Word& word) const {
  return WordKey::of(text_.data() + word.begin, word.n_bytes, text_.size() - word.begin);
}

void WordEncoder::write_all(Queue& queue) {
  std::span<const Queued> words = std::span(queue.words).first(queue.n);
  while (!words.empty()) {
    make_room(words.size() * kMaxShortTokens);
    words = words.subspan(write_known(words));
    if (words.empty()) break;
    write_other(word_of(words.front()));
    words = words.subspan(1);
  }
  queue.n = 0;
}

// Up to a word that has to be looked at more closely. Returns how many it wrote.
std::size_t WordEncoder::write_known(std::span<const Queued> words) {
  TokenId* const ids = out_.ids.data();
  std::uint32_t* const begins = out_.begins.data();
  std::uint32_t* const ends = out_.ends.data();
  std::size_t n = n_tokens_;
  auto word = words.begin();
  for (; word != words.end() && word->slot != kNoSlot; ++word) {
    const WordTable::Tokens* const tokens = shared_.short_words.find(word->key, word->slot);
    if (tokens == nullptr || (*tokens)[0].is_too_many()) break;
    std::uint32_t begin = word->begin;
    for (const PackedToken token : *tokens) {
      if (!token) break;
      ids[n] = token.id();
      begins[n] = begin;
      begin += token.n_bytes();
      ends[n] = begin;
      ++n;
    }
  }
  n_tokens_ = n;
  return static_cast<std::size_t>(word - words.begin());
}

void WordEncoder::write_other(const Word& word) {
  if (word.n_bytes <= WordKey::kMaxBytes) {
    const WordKey key = key_of(word);
    const auto* const tokens = shared_.short_words.find(key, shared_.short_words.slot_of(key));
    if (tokens == nullptr) {
      leave_gap(word);
      return;
    }
    if (!(*tokens)[0].is_too_many()) {
      if (!(*tokens)[1] && !may_be(word, (*tokens)[0].id())) {
        leave_gap(word);
        return;
      }
      std::array<Symbol, kMaxShortTokens> symbols;
      std::size_t n = 0;
      std::uint32_t end = 0;
      for (const PackedToken token : *tokens) {
        if (!token) break;
        symbols[n++] = {token.id(), end += token.n_bytes()};
      }
      write(word, std::span(symbols).first(n));
      return;
    }
  }
  if (const std::span<const Symbol> symbols = find_long(word); !symbols.empty()) {
    write(word, symbols);
  } else {
    leave_gap(word);
  }
}

std::span<const Symbol> WordEncoder::find_long(const Word& word) const {
  const std::span<const Symbol> symbols = shared_.long_words.find(text_.substr(word.begin, word.n_bytes));
  return symbols.size() == 1 && !may_be(word, symbols[0].id) ? std::span<const Symbol>() : symbols;
}

// A part of a word is what its merges make of it, even if it is a token and the vocabulary ignores merges.
bool WordEncoder::may_be(const Word& word, TokenId id) const {
  return (shared_.tables.ignore_merges && !word.is_part) || shared_.is_whole[static_cast<std::size_t>(id)];
}

void WordEncoder::make_room(std::size_t n_tokens) {
  if (out_.ids.size() < n_tokens_ + n_tokens) {
    const std::size_t n = std::max(2 * out_.ids.size(), n_tokens_ + n_tokens);
    out_.ids.resize(n);
    out_.begins.resize(n);
    out_.ends.resize(n);
  }
}

void WordEncoder::write(const Word& word, std::span<const Symbol> symbols) {
  make_room(symbols.size());
  std::uint32_t begin = word.begin;
  for (const Symbol& symbol : symbols) {
    out_.ids[n_tokens_] = symbol.id;
    out_.begins[n_tokens_] = begin;
    out_.ends[n_tokens_] = begin = word.begin + symbol.end;
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
  Gap& gap = gaps_[n_gaps_];
  if (bytes.size() <= WordKey::kMaxBytes) gap.key = key_of(word);
  gap.bytes = bytes.data();
  gap.begin = word.begin;
  gap.n_bytes = word.n_bytes;
  gap.region = out_.counts.size();
  gap.at = n_tokens_;
  std::uint8_t& recent = recent_gaps_[hash_bytes(bytes) % recent_gaps_.size()];
  gap.like = recent < n_gaps_ && is_like(gaps_[recent], gap) ? recent : n_gaps_;
  recent = static_cast<std::uint8_t>(gap.like);
  if (++n_gaps_ == kMaxGaps) fill_gaps();
}

bool WordEncoder::is_like(const Gap& one, const Gap& other) {
  return one.n_bytes == other.n_bytes && std::memcmp(one.bytes, other.bytes, one.n_bytes) == 0;
}

// From the last gap to the first, so that every token is moved once.
void WordEncoder::fill_gaps() {
  merge_gaps<16>(0);
  merge_gaps<kMaxMergerBytes>(16);

  std::size_t n_missing = 0;
  for (std::size_t i = 0; i < n_gaps_; ++i) n_missing += gaps_[gaps_[i].like].n_symbols;
  make_room(n_missing);
  std::size_t end = n_tokens_;
  n_tokens_ += n_missing;
  for (; n_gaps_ > 0; --n_gaps_) {
    const Gap& gap = gaps_[n_gaps_ - 1];
    const Gap& filled = gaps_[gap.like];
    const auto move = [&](auto& column) {
      auto* const data = column.data();
      std::copy_backward(data + gap.at, data + end, data + end + n_missing);
    };
    move(out_.ids);
    move(out_.begins);
    move(out_.ends);
    end = gap.at;
    n_missing -= filled.n_symbols;
    std::uint32_t begin = gap.begin;
    for (std::size_t i = 0; i < filled.n_symbols; ++i) {
      const std::size_t token = end + n_missing + i;
      out_.ids[token] = filled.symbols[i].id;
      out_.begins[token] = begin;
      out_.ends[token] = begin = gap.begin + filled.symbols[i].end;
    }
    if (gap.region < out_.counts.size()) {
      out_.counts[gap.region] += filled.n_symbols;
      region_begin_ += filled.n_symbols;
    }
  }
}

void WordEncoder::finish() {
  fill_gaps();
  out_.ids.resize(n_tokens_);
  out_.begins.resize(n_tokens_);
  out_.ends.resize(n_tokens_);
}

// The words of more than `n_bytes`, up to what the merger takes.
template <std::size_t kMaxBytes>
void WordEncoder::merge_gaps(std::size_t n_bytes) {
  struct Item {
    std::string_view bytes;
    Gap* gap;
  };
  std::size_t i = 0;
  const auto next = [&]() -> std::optional<Item> {
    for (; i < n_gaps_; ++i) {
      Gap& gap = gaps_[i];
      if (gap.like != i || gap.n_bytes <= n_bytes || gap.n_bytes > kMaxBytes) continue;
      ++i;
      return Item{{gap.bytes, gap.n_bytes}, &gap};
    }
    return std::nullopt;
  };
  merge_side_by_side<kMaxBytes, Item>(
      shared_.tables, next,
      [&](const ShortMerger<kMaxBytes>& merger, const Item& item) { keep(merger, *item.gap); });
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
