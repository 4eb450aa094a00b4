// A conversation as the core sees it: views into the caller's strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "turnloom/value.hpp"

namespace turnloom {

using TokenId = std::int32_t;

/// A part of a content list that is not text, such as an image.
struct ForeignPart {
  std::size_t index;      ///< position in the content list
  std::string_view type;  ///< its "type"
};

struct ToolCall {
  std::string_view name;
  Value arguments;  ///< a string is text to be printed as it is
  std::optional<std::string_view> id;
};

struct Message {
  std::string_view role;
  /// All text of the content: the string, or the text parts of a list joined.
  std::string_view text;
  bool has_content = false;  ///< neither None nor absent
  bool content_is_list = false;
  /// The content list as given, if the renderer `prints_content_lists`; null otherwise.
  Value content_list;
  std::optional<ForeignPart> foreign_part;  ///< the first one
  std::optional<std::string_view> reasoning;
  std::string_view reasoning_key;  ///< the message key that the reasoning was read from
  std::vector<ToolCall> tool_calls;
  bool has_tool_calls = false;  ///< a list was given, perhaps an empty one
  std::optional<std::string_view> name;
  std::optional<std::string_view> tool_call_id;
  bool train = true;  ///< false: no token of it is trained
};

/// Messages and tools of one prompt. Views point into the caller's memory or into `storage`.
struct Conversation {
  std::vector<Message> messages;
  std::vector<Value> tools;
  bool has_tools = false;           ///< a list was given, perhaps an empty one
  std::deque<std::string> storage;  ///< joined texts; a deque, so that views stay valid
};

}  // namespace turnloom
