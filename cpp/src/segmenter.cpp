#include "segmenter.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "added_tokens.hpp"
#include "text.hpp"
#include "turnloom/error.hpp"
#include "turnloom/json.hpp"
#include "word_characters.hpp"

namespace turnloom {
namespace {

bool may_hold_markers(const Piece& piece, MarkerPolicy policy) noexcept {
  switch (piece.source) {
    case Source::scaffold:
      return true;
    case Source::author:
      return policy != MarkerPolicy::none;
    case Source::guest:
      return policy == MarkerPolicy::all;
  }
  return false;
}

std::string place_of(const Piece& piece, std::string_view messages_name) {
  if (piece.field == Field::tool_spec) return "tools";
  std::string place = std::string(messages_name) + "[" + std::to_string(piece.message) + "].";
  switch (piece.field) {
    case Field::content:
      return place + "content";
    case Field::reasoning:
      return place + "reasoning_content";
    case Field::tool_name:
    case Field::tool_arguments:
      return place + "tool_calls";
    default:
      return place + "role";
  }
}

struct Match {
  std::size_t end = 0;
  const AddedToken* token = nullptr;
};

class Scan {
 public:
  Scan(std::string_view text, std::span<const Piece> pieces, const Tokenizer& tokenizer, MarkerPolicy policy,
       std::string_view messages_name)
      : text_(text),
        pieces_(pieces),
        matcher_(tokenizer.matcher()),
        policy_(policy),
        messages_name_(messages_name) {
    allowed_until_.resize(pieces_.size());
    for (std::size_t i = pieces_.size(); i-- > 0;) {
      if (!may_hold_markers(pieces_[i], policy)) {
        allowed_until_[i] = pieces_[i].begin;
      } else {
        const bool joins_next = i + 1 < pieces_.size() && allowed_until_[i + 1] > pieces_[i + 1].begin;
        allowed_until_[i] = joins_next ? allowed_until_[i + 1] : pieces_[i].end;
      }
    }
  }

  Segmentation run() {
    std::size_t region_begin = 0;
    for (const Piece& piece : pieces_) {
      if (piece.token == kNoToken) continue;
      match_verbatim(region_begin, piece.begin);
      add_cut(cuts_, {piece.begin, piece.end, piece.token}, matcher_.find(piece.token), {0, text_.size()});
      region_begin = piece.end;
    }
    match_verbatim(region_begin, text_.size());
    fill_gaps();
    std::ranges::stable_sort(result_.markers, {}, &MarkerHit::begin);
    return std::move(result_);
  }

 private:
  // Between two control tokens.
  void match_verbatim(std::size_t begin, std::size_t end) {
    match(matcher_.verbatim(), begin, end, {0, text_.size()}, cuts_);
  }

  struct Bounds {
    std::size_t begin;
    std::size_t end;
  };

  // Appends the matches in `[begin, end)` to `cuts`. `sentence` is the text that single_word looks at.
  void match(const TokenTrie& trie, std::size_t begin, std::size_t end, Bounds sentence,
             std::vector<Segment>& cuts) {
    if (trie.empty()) return;
    const std::string_view bounded = text_.substr(0, end);
    std::size_t reported_until = begin;
    std::size_t piece = piece_at(begin);
    std::size_t at = std::max(begin, cuts.empty() ? 0 : cuts.back().end);
    while ((at = trie.find_start(bounded, at)) < end) {
      while (pieces_[piece].end <= at) ++piece;
      const auto [allowed, blocked] = longest_matches(trie, bounded, at, piece, sentence);
      if (blocked.token != nullptr && at >= reported_until) {
        report(at, blocked, piece, false);
        reported_until = blocked.end;
      }
      if (allowed.token == nullptr) {
        ++at;
        continue;
      }
      if (allowed.token->single_word && !stands_alone(sentence, at, allowed.end)) {
        at = allowed.end;
        continue;
      }
      if (allowed.token->marker) report(at, allowed, piece, true);
      add_cut(cuts, {at, allowed.end, allowed.token->id}, allowed.token, {begin, end});
      at = cuts.back().end;
    }
  }

  struct LongestMatches {
    Match allowed;
    Match blocked;  ///< a marker that the policy alone keeps as text, only if longer than what is allowed
  };

  [[nodiscard]] LongestMatches longest_matches(const TokenTrie& trie, std::string_view bounded,
                                               std::size_t at, std::size_t piece, Bounds sentence) const {
    LongestMatches found;
    trie.visit_matches(bounded, at, [&](std::size_t end, std::size_t index) {
      const AddedToken& token = matcher_.token(index);
      if (!token.marker || end <= allowed_until_[piece]) {
        found.allowed = {end, &token};
        found.blocked = {};
      } else if (!token.single_word || stands_alone(sentence, at, end)) {
        found.blocked = {end, &token};
      }
    });
    return found;
  }

  // The caller's text that has a part in the marker answers for it; a marker of the template alone is no hit.
  void report(std::size_t begin, const Match& match, std::size_t piece, bool became_token) {
    while (piece < pieces_.size() && pieces_[piece].begin < match.end &&
           pieces_[piece].source == Source::scaffold) {
      ++piece;
    }
    if (piece == pieces_.size() || pieces_[piece].begin >= match.end) return;
    const Piece& origin = pieces_[piece];
    if (!became_token && policy_ == MarkerPolicy::reject) {
      throw Error(ErrorKind::render, place_of(origin, messages_name_),
                  "bytes " + std::to_string(begin) + "-" + std::to_string(match.end) +
                      " of the rendered text spell the marker " + quoted(match.token->content));
    }
    result_.markers.push_back(
        {begin, match.end, match.token->id, origin.message, origin.field, became_token});
  }

  [[nodiscard]] bool stands_alone(Bounds sentence, std::size_t begin, std::size_t end) const {
    return !ends_with_word_character(text_.substr(sentence.begin, begin - sentence.begin)) &&
           !starts_with_word_character(text_.substr(end, sentence.end - end));
  }

  // White space beside a token that strips it belongs to the token.
  void add_cut(std::vector<Segment>& cuts, Segment cut, const AddedToken* token, Bounds bounds) const {
    const std::size_t floor = std::max(bounds.begin, cuts.empty() ? 0 : cuts.back().end);
    cut.begin = std::max(cut.begin, floor);
    if (token != nullptr && token->lstrip) {
      cut.begin -= unicode_space_suffix(text_.substr(floor, cut.begin - floor));
    }
    if (token != nullptr && token->rstrip) {
      cut.end += unicode_space_prefix(text_.substr(cut.end, bounds.end - cut.end));
    }
    cuts.push_back(cut);
  }

  // Tokens that are matched on normalized text come second, in what the others left.
  void fill_gaps() {
    std::size_t at = 0;
    for (const Segment& cut : cuts_) {
      fill_gap(at, cut.begin);
      result_.segments.push_back(cut);
      at = cut.end;
    }
    fill_gap(at, text_.size());
  }

  void fill_gap(std::size_t begin, std::size_t end) {
    std::vector<Segment> cuts;
    match(matcher_.normalized(), begin, end, {begin, end}, cuts);
    for (const Segment& cut : cuts) {
      add_region(begin, cut.begin);
      result_.segments.push_back(cut);
      begin = cut.end;
    }
    add_region(begin, end);
  }

  void add_region(std::size_t begin, std::size_t end) {
    if (begin < end) result_.segments.push_back({begin, end, kNoToken});
  }

  [[nodiscard]] std::size_t piece_at(std::size_t byte) const {
    const auto next = std::ranges::upper_bound(pieces_, byte, {}, &Piece::begin);
    return next == pieces_.begin() ? 0 : static_cast<std::size_t>(next - pieces_.begin()) - 1;
  }

  const std::string_view text_;
  const std::span<const Piece> pieces_;
  const AddedTokenMatcher& matcher_;
  const MarkerPolicy policy_;
  const std::string_view messages_name_;
  std::vector<std::size_t>
      allowed_until_;  ///< of each piece: how far markers may reach; its begin for not at all
  std::vector<Segment> cuts_;
  Segmentation result_;
};

}  // namespace

Segmentation segment(std::string_view text, std::span<const Piece> pieces, const Tokenizer& tokenizer,
                     MarkerPolicy policy, std::string_view messages_name) {
  return Scan(text, pieces, tokenizer, policy, messages_name).run();
}

}  // namespace turnloom
