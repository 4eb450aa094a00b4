#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>

#include "float_repr.hpp"
#include "turnloom/json.hpp"

namespace turnloom {
namespace {

constexpr bool needs_escape(unsigned char byte) { return byte < 0x20 || byte == '"' || byte == '\\'; }

/// The high bit of each byte of `word` that JSON escapes. Above the lowest of these, others can be set too.
constexpr std::uint64_t find_escapes(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = kOnes << 7;
  const auto below = [](std::uint64_t bytes, std::uint64_t limit) {
    return (bytes - kOnes * limit) & ~bytes;
  };
  return (below(word, 0x20) | below(word ^ (kOnes * '"'), 1) | below(word ^ (kOnes * '\\'), 1)) & kHighs;
}

/// The first byte at or after `begin` that JSON escapes, or the size of the text.
std::size_t find_escape(std::string_view text, std::size_t begin) {
  // Eight bytes at a time: texts of arguments can be long. The lowest byte of the word has to be the first.
  if constexpr (std::endian::native == std::endian::little) {
    for (; text.size() - begin >= sizeof(std::uint64_t); begin += sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, text.data() + begin, sizeof word);
      const std::uint64_t escapes = find_escapes(word);
      if (escapes != 0) return begin + static_cast<std::size_t>(std::countr_zero(escapes)) / 8;
    }
  }
  while (begin < text.size() && !needs_escape(static_cast<unsigned char>(text[begin]))) ++begin;
  return begin;
}

void append_escape(char c, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\b':
      out += "\\b";
      return;
    default:
      const auto byte = static_cast<unsigned char>(c);
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 0xF];
  }
}

void append_json_float(double value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
  } else {
    append_float_repr(value, out);
  }
}

/// Writes one value; the overloads are the alternatives of `Value`.
class JsonWriter {
 public:
  JsonWriter(const JsonStyle& style, std::string& out) : style_(style), out_(out) {}

  void write(const Value& value) { std::visit(*this, value.data); }

  void operator()(Value::Null) { out_ += "null"; }
  void operator()(bool value) { out_ += value ? "true" : "false"; }
  void operator()(std::int64_t value) { out_ += std::to_string(value); }
  void operator()(const BigInteger& value) { out_ += value.digits; }
  void operator()(double value) { append_json_float(value, out_); }

  void operator()(std::string_view text) {
    out_ += '"';
    for (std::size_t begin = 0;;) {
      const std::size_t end = find_escape(text, begin);
      out_.append(text, begin, end - begin);
      if (end == text.size()) break;
      append_escape(text[end], out_);
      begin = end + 1;
    }
    out_ += '"';
  }

  void operator()(const Array& items) {
    write_sequence('[', ']', items, [this](const Value& item) { write(item); });
  }

  void operator()(const Object& members) {
    write_sequence('{', '}', members, [this](const Member& member) {
      write_key(member.key);
      out_ += style_.key_separator;
      write(member.value);
    });
  }

 private:
  template <class Sequence, class WriteItem>
  void write_sequence(char open, char close, const Sequence& sequence, WriteItem write_item) {
    out_ += open;
    if (!sequence.empty()) {
      ++level_;
      bool first = true;
      for (const auto& item : sequence) {
        if (!first) out_ += style_.item_separator;
        first = false;
        break_line();
        write_item(item);
      }
      --level_;
      break_line();
    }
    out_ += close;
  }

  // Python prints a key that is no string as the string of its JSON text: {1: 2} is {"1": 2}.
  void write_key(const Value& key) {
    if (std::holds_alternative<std::string_view>(key.data)) {
      write(key);
      return;
    }
    out_ += '"';
    write(key);
    out_ += '"';
  }

  void break_line() {
    if (style_.indent < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(style_.indent) * level_, ' ');
  }

  const JsonStyle& style_;
  std::string& out_;
  std::size_t level_ = 0;
};

}  // namespace

void write_json(const Value& value, const JsonStyle& style, std::string& out) {
  JsonWriter(style, out).write(value);
}

}  // namespace turnloom
