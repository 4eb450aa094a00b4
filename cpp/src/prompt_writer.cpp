#include "prompt_writer.hpp"

#include "families/family.hpp"
#include "text.hpp"

namespace turnloom {

void PromptWriter::attribute_to(const Turn& turn) {
  message_ = static_cast<std::int32_t>(turn.index);
  is_assistant_ = turn.message.role == "assistant";
  is_author_ = is_assistant_ || turn.message.role == "system";
}

void PromptWriter::attribute_to_none() {
  message_ = kNoMessage;
  is_assistant_ = false;
  is_author_ = false;
}

void PromptWriter::control(const ControlToken& token, Field field) {
  const std::size_t begin = prompt_.text.size();
  prompt_.text += token.text;
  end_piece(begin, field, Source::scaffold, token.id);
}

void PromptWriter::literal(std::string_view text, Field field) {
  const std::size_t begin = prompt_.text.size();
  prompt_.text += text;
  end_piece(begin, field, Source::scaffold, kNoToken);
}

void PromptWriter::caller_text(std::string_view text, Field field) {
  const std::size_t begin = prompt_.text.size();
  prompt_.text += text;
  end_piece(begin, field, caller_source(field), kNoToken);
}

void PromptWriter::content(std::string_view text) {
  caller_text(text, Field::content);
  last_body_ = {.message = message_, .end = prompt_.text.size(), .is_stripped = false};
}

void PromptWriter::stripped_content(std::string_view text) {
  content(strip(text));
  last_body_.is_stripped = true;
}

void PromptWriter::json_content(const Value& value) {
  json(value, Field::content);
  const std::size_t n_closing = std::holds_alternative<std::string_view>(value.data) ? 1 : 0;
  last_body_ = {.message = message_, .end = prompt_.text.size() - n_closing, .is_stripped = false};
}

void PromptWriter::json(const Value& value, Field field, const JsonStyle& style) {
  const std::size_t begin = prompt_.text.size();
  write_json(value, style, prompt_.text);
  end_piece(begin, field, caller_source(field), kNoToken);
}

void PromptWriter::arguments(const Value& value) {
  const auto* text = std::get_if<std::string_view>(&value.data);
  if (text != nullptr && !quotes_string_arguments_) {
    caller_text(*text, Field::tool_arguments);
  } else {
    json(value, Field::tool_arguments);
  }
}

Source PromptWriter::caller_source(Field field) const noexcept {
  return is_author_ && field != Field::tool_spec ? Source::author : Source::guest;
}

void PromptWriter::end_piece(std::size_t begin, Field field, Source source, TokenId token) {
  const std::size_t end = prompt_.text.size();
  if (begin == end) return;
  const bool sampled = is_assistant_ && field != Field::scaffold && field != Field::tool_spec;
  const bool is_content = is_assistant_ ? sampled : field == Field::content;
  prompt_.pieces.push_back({begin, end, message_, token, field, source, sampled, is_content});
}

}  // namespace turnloom
