// What a parser has decided so far: the texts, the calls, and the deltas that tell of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "turnloom/parse.hpp"

namespace turnloom {

/// A text that grows. The white space at its ends is held back, since it may not count.
class StrippedText {
 public:
  /// The piece is whole characters.
  void add(std::string_view piece);

  [[nodiscard]] std::string_view stripped() const noexcept {
    return std::string_view(text_).substr(0, n_solid_);
  }
  [[nodiscard]] std::string take_stripped() {
    text_.resize(n_solid_);
    return std::move(text_);
  }
  /// With the white space after it.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] const std::string& space_before() const noexcept { return space_before_; }
  /// What stands before `end` and was not given yet.
  [[nodiscard]] std::string_view news(std::size_t end) noexcept;

 private:
  std::string space_before_;
  std::string text_;
  std::size_t n_solid_ = 0;  ///< bytes up to the last one that is no white space
  std::size_t n_told_ = 0;
};

/// Takes what the grammar decides, in order.
class ResponseWriter {
 public:
  void content(std::string_view text) { content_.add(text); }
  void reasoning(std::string_view text) { reasoning_.add(text); }
  /// Ends within the reasoning: all of it counts, white space too.
  void leave_reasoning_open();

  /// Begins a call, the one that `close_call` will add.
  void open_call(const std::optional<std::string>& name);
  void arguments(std::string_view text);
  void close_call(ParsedCall&& call);

  /// Whether deltas are wanted. Without, they are not made.
  void set_deltas(std::vector<Delta>* deltas) noexcept { deltas_ = deltas; }
  /// Makes deltas of the texts that have grown.
  void tell_texts();

  /// Moves all but `text` there.
  void move_to(ParsedCompletion& completion);

 private:
  void tell(Delta::Kind kind, std::string_view text);

  StrippedText content_;
  StrippedText reasoning_;
  bool reasoning_open_ = false;
  std::vector<ParsedCall> calls_;
  std::vector<Delta>* deltas_ = nullptr;
};

}  // namespace turnloom
