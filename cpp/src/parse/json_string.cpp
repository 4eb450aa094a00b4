#include <charconv>
#include <cstdint>

#include "parse/lossy_utf8.hpp"
#include "turnloom/parse.hpp"

namespace turnloom {
namespace {

std::uint32_t hex_digits(std::string_view text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

bool is_high_half(std::uint32_t code) { return code >= 0xD800 && code < 0xDC00; }
bool is_low_half(std::uint32_t code) { return code >= 0xDC00 && code < 0xE000; }

void append_code_point(std::uint32_t code, std::string& out) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  }
}

// Appends what the escape `\uXXXX` at `at` stands for, two of them if they are the halves of a character.
// Returns its length.
std::size_t append_unicode_escape(std::string_view text, std::size_t at, std::string& out) {
  const std::uint32_t code = hex_digits(text.substr(at + 2, 4));
  if (is_high_half(code) && text.substr(at + 6, 2) == "\\u") {
    const std::uint32_t low = hex_digits(text.substr(at + 8, 4));
    if (is_low_half(low)) {
      append_code_point(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00), out);
      return 12;
    }
  }
  if (is_high_half(code) || is_low_half(code)) {
    out += kReplacement;
  } else {
    append_code_point(code, out);
  }
  return 6;
}

}  // namespace

std::string json_string(std::string_view text, const JsonNode& node) {
  text = text.substr(node.text.begin + 1, node.text.end - node.text.begin - 2);
  if (!node.has_escapes) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t backslash = text.find('\\', at);
    out += text.substr(at, backslash - at);
    if (backslash == std::string_view::npos) break;
    at = backslash;
    if (text[at + 1] == 'u') {
      at += append_unicode_escape(text, at, out);
      continue;
    }
    constexpr std::string_view kLetters = "bfnrt";
    constexpr std::string_view kControls = "\b\f\n\r\t";
    const std::size_t letter = kLetters.find(text[at + 1]);
    out += letter == std::string_view::npos ? text[at + 1] : kControls[letter];
    at += 2;
  }
  return out;
}

}  // namespace turnloom
