// What stands behind the reasoning: text and calls, in the way of a format.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "parse/items.hpp"
#include "parse/response_writer.hpp"

namespace turnloom {

/// Reads an answer item by item, the end among them, and tells a ResponseWriter.
class Answer {
 public:
  Answer() = default;
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  virtual ~Answer() = default;

  /// `text` is all that was decoded so far.
  virtual void take(const Item& item, std::string_view text) = 0;
};

[[nodiscard]] std::unique_ptr<Answer> make_plain_answer(ResponseWriter& out);
[[nodiscard]] std::unique_ptr<Answer> make_tagged_answer(ResponseWriter& out);
/// `known_tools` has to outlive it.
[[nodiscard]] std::unique_ptr<Answer> make_llama_answer(ResponseWriter& out,
                                                        std::span<const std::string> known_tools);

[[nodiscard]] inline std::string_view text_of(const Item& item, std::string_view text) {
  return text.substr(item.begin, item.end - item.begin);
}

}  // namespace turnloom
