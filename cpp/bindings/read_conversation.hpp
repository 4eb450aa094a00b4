// Python messages and tools -> turnloom::Conversation: the one place that reads them.
//
// Everything here needs the interpreter attached.
#pragma once

#include <pybind11/pybind11.h>

#include "read_value.hpp"
#include "turnloom/types.hpp"

namespace turnloom {

/// Reads a list of message dicts and, unless `tools` is None, a list of tool dicts. No string is copied, but
/// for the joined text of a content list; views are valid as long as `keep_alive`.
///
/// Throws turnloom::Error with the place of what is wrong, such as `messages[2].content`; `argument` is what
/// the messages are called there.
[[nodiscard]] Conversation read_conversation(PyObject* messages, PyObject* tools, bool keep_content_lists,
                                             KeepAlive& keep_alive, std::string_view argument = "messages");

}  // namespace turnloom
