// The parts of a turn that the tokens of a completion are, found by what its parser found.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/items.hpp"
#include "turnloom/parse.hpp"
#include "turnloom/prompt.hpp"

namespace turnloom {
namespace {

constexpr std::string_view kLineEnds = "\n";

// What stands between two calls.
constexpr std::string_view separators_of(CallSyntax calls) {
  return calls == CallSyntax::llama_json ? "\n ,;" : kLineEnds;
}

class FieldFinder {
 public:
  FieldFinder(const BoundFormat& format, std::span<const TokenId> ids, const ParsedCompletion& completion)
      : format_(format), ids_(ids), completion_(completion), fields_(ids.size(), Field::content) {
    begins_.reserve(ids.size() + 1);
    begins_.push_back(0);
    for (const TokenId id : ids) begins_.push_back(begins_.back() + format.token_bytes().of(id).size());
  }

  std::vector<Field> find() {
    find_reasoning();
    for (std::size_t i = 0; i < completion_.calls.size(); ++i) find_call(i);
    return std::move(fields_);
  }

 private:
  void find_reasoning() {
    const std::size_t end = completion_.n_reasoning_tokens;
    for (std::size_t i = 0; i < end; ++i) {
      fields_[i] = is_reasoning_marker(ids_[i]) ? Field::reasoning_markup : Field::reasoning;
    }
    // The line ends beside a marker are part of the markup.
    for (std::size_t i = 0; i < end; ++i) {
      if (fields_[i] != Field::reasoning_markup || !is_reasoning_marker(ids_[i])) continue;
      if (i + 1 < ids_.size() && consists_of(i + 1, kLineEnds)) fields_[i + 1] = Field::reasoning_markup;
      if (i > 0 && consists_of(i - 1, kLineEnds)) fields_[i - 1] = Field::reasoning_markup;
    }
  }

  void find_call(std::size_t index) {
    const ParsedCall& call = completion_.calls[index];
    const std::size_t end = std::min(call.end_token, ids_.size());
    std::fill(fields_.begin() + static_cast<std::ptrdiff_t>(call.first_token),
              fields_.begin() + static_cast<std::ptrdiff_t>(end), Field::call_markup);
    find_separators(index);
    if (begins_.back() != completion_.text.size()) return;
    if (call.name_value && call.name) {
      const TextSpan& name = call.nodes[*call.name_value].text;
      mark({name.begin + 1, name.end - 1}, call.first_token, end, Field::tool_name);
    }
    if (call.arguments) {
      mark(call.nodes[*call.arguments].text, call.first_token, end, Field::tool_arguments);
    }
  }

  // What stands between two calls, and the line end that leads to the first one, is markup.
  void find_separators(std::size_t index) {
    std::size_t i = completion_.calls[index].first_token;
    if (index == 0) {
      const bool is_line_end = i > 0 && format_.token_bytes().of(ids_[i - 1]) == kLineEnds;
      if (is_line_end && fields_[i - 1] == Field::content) fields_[i - 1] = Field::call_markup;
      return;
    }
    const std::size_t begin = completion_.calls[index - 1].end_token;
    const std::string_view separators = separators_of(format_.format().calls);
    for (; i > begin && fields_[i - 1] == Field::content && consists_of(i - 1, separators); --i) {
      fields_[i - 1] = Field::call_markup;
    }
  }

  /// Marks the tokens of `[first, end)` whose first byte is in a span of the text.
  void mark(const TextSpan& span, std::size_t first, std::size_t end, Field field) {
    for (std::size_t i = first; i < end; ++i) {
      if (span.begin <= begins_[i] && begins_[i] < span.end) fields_[i] = field;
    }
  }

  [[nodiscard]] bool is_reasoning_marker(TokenId id) const noexcept {
    const BoundFormat::Marker* const marker = format_.is_plain(id) ? nullptr : format_.marker_of(id);
    return marker != nullptr &&
           (marker->kind == Item::Kind::think_open || marker->kind == Item::Kind::think_close);
  }

  [[nodiscard]] bool consists_of(std::size_t token, std::string_view characters) const noexcept {
    const std::string_view bytes = format_.token_bytes().of(ids_[token]);
    return !bytes.empty() && bytes.find_first_not_of(characters) == std::string_view::npos;
  }

  const BoundFormat& format_;
  std::span<const TokenId> ids_;
  const ParsedCompletion& completion_;
  std::vector<Field> fields_;
  std::vector<std::size_t> begins_;  ///< bytes of the text, where the completion is valid UTF-8
};

}  // namespace

std::vector<std::uint8_t> CompletionParser::fields(std::span<const TokenId> ids,
                                                   std::span<const TokenId> prompt_ids,
                                                   std::span<const std::string> known_tools) const {
  const auto stop = std::ranges::find_if(ids, [&](TokenId id) { return is_stop(id); });
  const auto n_before_stop = static_cast<std::size_t>(stop - ids.begin());
  const ParsedCompletion completion = parse(ids, prompt_ids, known_tools);
  std::vector<std::uint8_t> fields;
  fields.reserve(ids.size());
  for (const Field field : FieldFinder(*format_, ids.first(n_before_stop), completion).find()) {
    fields.push_back(static_cast<std::uint8_t>(field));
  }
  for (const TokenId id : ids.subspan(n_before_stop)) {
    fields.push_back(static_cast<std::uint8_t>(is_stop(id) ? Field::turn_close : Field::content));
  }
  return fields;
}

}  // namespace turnloom
