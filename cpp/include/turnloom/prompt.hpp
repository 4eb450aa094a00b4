// What a family writes: a text, tiled by pieces that say where each byte comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "turnloom/types.hpp"

namespace turnloom {

/// The part of a turn that a piece of text is. The values are those of the `fields` column.
enum class Field : std::uint8_t {
  scaffold = 0,
  content = 1,
  reasoning = 2,
  reasoning_markup = 3,
  call_markup = 4,
  tool_name = 5,
  tool_arguments = 6,
  tool_spec = 7,
  turn_close = 8,
};

/// Who answers for a piece of text, and so whether markers spelled in it may become tokens.
enum class Source : std::uint8_t {
  scaffold,  ///< the template itself
  author,    ///< text of the assistant or of the system message
  guest,     ///< text of a user, of a tool, of a tool spec, of any other role
};

constexpr std::int32_t kNoMessage = -1;
constexpr TokenId kNoToken = -1;

/// A run of bytes `[begin, end)` of the prompt's text with one origin.
struct Piece {
  std::size_t begin;
  std::size_t end;
  std::int32_t message;  ///< index in the caller's messages, or kNoMessage
  TokenId token;         ///< id of a control token, or kNoToken for text
  Field field;
  Source source;
  bool sampled;          ///< the model would have produced it
  bool is_content;       ///< body of a message
  bool trained = false;  ///< set by `mark_trained` where a loss mask of its own is asked for
};

/// The rendered text and its pieces, which tile it in order without gaps. No piece is empty.
struct Prompt {
  std::string text;
  std::vector<Piece> pieces;
  std::string_view messages_name = "messages";  ///< what errors call the messages; of a literal
};

}  // namespace turnloom
