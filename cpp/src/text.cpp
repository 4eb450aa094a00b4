#include "text.hpp"

#include <cstddef>

#include "utf8.hpp"

namespace turnloom {
namespace {

constexpr bool is_unicode_space(char32_t c) noexcept {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

constexpr bool is_python_space(char32_t c) noexcept {
  return is_unicode_space(c) || (c >= 0x1C && c <= 0x1F);
}

template <typename IsSpace>
std::size_t space_prefix(std::string_view text, IsSpace is_space) noexcept {
  std::size_t end = 0;
  while (end < text.size()) {
    const CodePoint next = decode_code_point(text, end);
    if (!is_space(next.value)) break;
    end += next.n_bytes;
  }
  return end;
}

template <typename IsSpace>
std::size_t space_suffix(std::string_view text, IsSpace is_space) noexcept {
  std::size_t begin = text.size();
  while (begin > 0) {
    const std::size_t previous = previous_code_point(text, begin);
    if (!is_space(decode_code_point(text, previous).value)) break;
    begin = previous;
  }
  return text.size() - begin;
}

}  // namespace

std::string_view rstrip(std::string_view text) noexcept {
  text.remove_suffix(space_suffix(text, is_python_space));
  return text;
}

std::string_view lstrip(std::string_view text) noexcept {
  text.remove_prefix(space_prefix(text, is_python_space));
  return text;
}

std::string_view strip(std::string_view text) noexcept { return rstrip(lstrip(text)); }

std::string_view lstrip_newlines(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of('\n');
  return begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
}

std::string_view rstrip_newlines(std::string_view text) noexcept {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

std::string_view strip_newlines(std::string_view text) noexcept {
  return rstrip_newlines(lstrip_newlines(text));
}

std::size_t unicode_space_prefix(std::string_view text) noexcept {
  return space_prefix(text, is_unicode_space);
}

std::size_t unicode_space_suffix(std::string_view text) noexcept {
  return space_suffix(text, is_unicode_space);
}

}  // namespace turnloom
