#include "turnloom/scan.hpp"

#include <bit>
#include <exception>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "ids/block_search.hpp"
#include "ids/scan_at_level.hpp"
#include "turnloom/error.hpp"

namespace turnloom {
namespace {

/// An id that is no TokenId. It becomes an Error once the whole place is known.
class InvalidId : public std::exception {
 public:
  InvalidId(std::size_t position, std::string value) : position_(position), value_(std::move(value)) {}

  [[nodiscard]] std::size_t position() const noexcept { return position_; }
  [[nodiscard]] const std::string& value() const noexcept { return value_; }

 private:
  std::size_t position_;
  std::string value_;
};

[[noreturn]] void raise(const InvalidId& invalid, const std::string& place) {
  throw Error(ErrorKind::value, place,
              "expected a token id from 0 to " + std::to_string(std::numeric_limits<TokenId>::max()) +
                  ", got " + invalid.value());
}

template <typename Id>
class Searcher {
 public:
  using Bits = std::make_unsigned_t<Id>;

  Searcher(std::span<const Id> ids, const TokenSet& tokens, VectorLevel level)
      : ids_(ids), tokens_(tokens), filter_(tokens, std::is_signed_v<Id>), level_(level) {}

  /// Calls `visit(position, token)` for each hit in order, until it returns false.
  template <typename Visit>
  void forwards(Visit visit) const {
    const std::size_t n_blocks = ids_.size() / kBlock;
    for (std::size_t at = 0; at < n_blocks; ++at) {
      const Block block = find_block(bits() + at * kBlock, n_blocks - at, filter_, level_);
      at += block.index;
      for (std::uint64_t left = block.candidates; left != 0; left &= left - 1) {
        const std::size_t i = at * kBlock + static_cast<std::size_t>(std::countr_zero(left));
        if (is_hit(i) && !visit(i, static_cast<TokenId>(ids_[i]))) return;
      }
    }
    for (std::size_t i = n_blocks * kBlock; i < ids_.size(); ++i) {
      if (is_hit(i) && !visit(i, static_cast<TokenId>(ids_[i]))) return;
    }
  }

  [[nodiscard]] std::optional<std::size_t> last() const {
    std::size_t n_blocks = ids_.size() / kBlock;
    for (std::size_t i = ids_.size(); i > n_blocks * kBlock; --i) {
      if (is_hit(i - 1)) return i - 1;
    }
    while (n_blocks > 0) {
      const Block block = find_last_block(bits(), n_blocks, filter_, level_);
      for (std::uint64_t left = block.candidates; left != 0; left &= ~std::bit_floor(left)) {
        const std::size_t i = block.index * kBlock + static_cast<std::size_t>(std::bit_width(left)) - 1;
        if (is_hit(i)) return i;
      }
      n_blocks = block.candidates == 0 ? 0 : block.index;
    }
    return std::nullopt;
  }

 private:
  /// A signed type may be looked at through the unsigned one of its width.
  [[nodiscard]] const Bits* bits() const noexcept { return reinterpret_cast<const Bits*>(ids_.data()); }

  [[nodiscard]] bool is_hit(std::size_t position) const {
    const Id id = ids_[position];
    if ((static_cast<Bits>(id) & filter_.invalid_bits) != 0) throw InvalidId(position, std::to_string(id));
    return tokens_.contains(static_cast<TokenId>(id));
  }

  std::span<const Id> ids_;
  const TokenSet& tokens_;
  IdFilter<Bits> filter_;
  VectorLevel level_;
};

template <typename Id>
TokenHits collect(std::span<const Id> ids, const TokenSet& tokens, VectorLevel level) {
  TokenHits hits;
  // More than most prompts have.
  hits.positions.reserve(256);
  hits.tokens.reserve(256);
  Searcher<Id>(ids, tokens, level).forwards([&](std::size_t position, TokenId token) {
    hits.positions.push_back(static_cast<std::int64_t>(position));
    hits.tokens.push_back(token);
    return true;
  });
  return hits;
}

/// Runs a search of one array and names the place of an invalid id.
template <typename Search>
auto with_places(Search search) {
  try {
    return search();
  } catch (const InvalidId& invalid) {
    raise(invalid, "ids[" + std::to_string(invalid.position()) + "]");
  }
}

}  // namespace

template <typename Id>
TokenHits scan_at_level(std::span<const Id> ids, const TokenSet& tokens, VectorLevel level) {
  return with_places([&] { return collect(ids, tokens, level); });
}

template <typename Id>
std::optional<std::size_t> find_last_at_level(std::span<const Id> ids, const TokenSet& tokens,
                                              VectorLevel level) {
  return with_places([&] { return Searcher<Id>(ids, tokens, level).last(); });
}

template <typename Id>
TokenHits scan(std::span<const Id> ids, const TokenSet& tokens) {
  return scan_at_level(ids, tokens, best_vector_level());
}

template <typename Id>
RaggedTokenHits scan(std::span<const Id> ids, std::span<const std::int64_t> offsets, const TokenSet& tokens) {
  // All rows in one go: there may be many short ones.
  const auto begin = static_cast<std::size_t>(offsets.front());
  const auto row_begin = [&](std::size_t row) { return offsets[row] - offsets.front(); };
  std::size_t row = 0;
  const auto row_of = [&](std::int64_t position) {
    while (row_begin(row + 1) <= position) ++row;
    return row;
  };
  RaggedTokenHits found;
  try {
    found.hits = collect(ids.subspan(begin, static_cast<std::size_t>(offsets.back()) - begin), tokens,
                         best_vector_level());
  } catch (const InvalidId& invalid) {
    const auto position = static_cast<std::int64_t>(invalid.position());
    const std::size_t in_row = row_of(position);
    raise(invalid,
          "ids[" + std::to_string(in_row) + "][" + std::to_string(position - row_begin(in_row)) + "]");
  }
  found.rows.reserve(found.hits.positions.size());
  for (std::int64_t& position : found.hits.positions) {
    const std::size_t in_row = row_of(position);
    found.rows.push_back(static_cast<std::int64_t>(in_row));
    position -= row_begin(in_row);
  }
  return found;
}

template <typename Id>
std::size_t count_tokens(std::span<const Id> ids, const TokenSet& tokens) {
  return with_places([&] {
    std::size_t n_hits = 0;
    Searcher<Id>(ids, tokens, best_vector_level()).forwards([&](std::size_t, TokenId) {
      ++n_hits;
      return true;
    });
    return n_hits;
  });
}

template <typename Id>
std::optional<std::size_t> find_first(std::span<const Id> ids, const TokenSet& tokens) {
  return with_places([&] {
    std::optional<std::size_t> first;
    Searcher<Id>(ids, tokens, best_vector_level()).forwards([&](std::size_t position, TokenId) {
      first = position;
      return false;
    });
    return first;
  });
}

template <typename Id>
std::optional<std::size_t> find_last(std::span<const Id> ids, const TokenSet& tokens) {
  return find_last_at_level(ids, tokens, best_vector_level());
}

#define TURNLOOM_INSTANTIATE(Id)                                                                             \
  template TokenHits scan_at_level(std::span<const Id>, const TokenSet&, VectorLevel);                       \
  template std::optional<std::size_t> find_last_at_level(std::span<const Id>, const TokenSet&, VectorLevel); \
  template TokenHits scan(std::span<const Id>, const TokenSet&);                                             \
  template RaggedTokenHits scan(std::span<const Id>, std::span<const std::int64_t>, const TokenSet&);        \
  template std::size_t count_tokens(std::span<const Id>, const TokenSet&);                                   \
  template std::optional<std::size_t> find_first(std::span<const Id>, const TokenSet&);                      \
  template std::optional<std::size_t> find_last(std::span<const Id>, const TokenSet&);
TURNLOOM_INSTANTIATE(std::int8_t)
TURNLOOM_INSTANTIATE(std::int16_t)
TURNLOOM_INSTANTIATE(std::int32_t)
TURNLOOM_INSTANTIATE(std::int64_t)
TURNLOOM_INSTANTIATE(std::uint8_t)
TURNLOOM_INSTANTIATE(std::uint16_t)
TURNLOOM_INSTANTIATE(std::uint32_t)
TURNLOOM_INSTANTIATE(std::uint64_t)
#undef TURNLOOM_INSTANTIATE

}  // namespace turnloom
