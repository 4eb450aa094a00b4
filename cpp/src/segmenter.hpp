// Cutting a prompt into tokens that are known by spelling or id, and the text between them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "turnloom/prompt.hpp"
#include "turnloom/tokenizer.hpp"

namespace turnloom {

/// Bytes `[begin, end)` of the prompt's text: one token, or a region for the text encoder (kNoToken).
struct Segment {
  std::size_t begin;
  std::size_t end;
  TokenId token;
};

struct Segmentation {
  std::vector<Segment> segments;   ///< tile the text, none empty
  std::vector<MarkerHit> markers;  ///< spelled at least in part by the caller's text, in order
};

/// Matches added tokens in the text of a prompt: leftmost first, then the longest that is allowed there. A
/// marker is allowed where all its bytes lie in pieces that may hold markers; other added tokens always are.
/// Linear in the text. Throws Error (render) under MarkerPolicy::reject for a marker in a piece that may hold
/// none.
[[nodiscard]] Segmentation segment(std::string_view text, std::span<const Piece> pieces,
                                   const Tokenizer& tokenizer, MarkerPolicy policy,
                                   std::string_view messages_name = "messages");

}  // namespace turnloom
