#include "word_characters.hpp"

#include <algorithm>
#include <iterator>

#include "utf8.hpp"

namespace turnloom {
namespace {

#include "unicode_tables.inc"

bool is_word_character(char32_t c) noexcept {
  const auto* const after = std::upper_bound(std::begin(kWordChanges), std::end(kWordChanges), c);
  return (after - std::begin(kWordChanges)) % 2 == 1;
}

}  // namespace

bool starts_with_word_character(std::string_view text) noexcept {
  return !text.empty() && is_word_character(decode_code_point(text, 0).value);
}

bool ends_with_word_character(std::string_view text) noexcept {
  return !text.empty() &&
         is_word_character(decode_code_point(text, previous_code_point(text, text.size())).value);
}

}  // namespace turnloom
