#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>

#include "float_repr.hpp"
#include "turnloom/json.hpp"
#include "utf8.hpp"

namespace turnloom {
namespace {

#include "unicode_tables.inc"

/// As `str.isprintable` says.
bool is_printable(char32_t code_point) {
  const auto* change =
      std::upper_bound(std::begin(kPrintableChanges), std::end(kPrintableChanges), code_point);
  return (change - std::begin(kPrintableChanges)) % 2 == 1;
}

void append_hex(char kind, char32_t value, int n_digits, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '\\';
  out += kind;
  for (int shift = 4 * (n_digits - 1); shift >= 0; shift -= 4) out += kHex[value >> shift & 0xF];
}

void append_escape(char32_t code_point, std::string& out) {
  switch (code_point) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\\':
    case '\'':
      out += '\\';
      out += static_cast<char>(code_point);
      return;
    default:
      if (code_point <= 0xFF) {
        append_hex('x', code_point, 2, out);
      } else if (code_point <= 0xFFFF) {
        append_hex('u', code_point, 4, out);
      } else {
        append_hex('U', code_point, 8, out);
      }
  }
}

/// Writes one value; the overloads are the alternatives of `Value`.
class ReprWriter {
 public:
  explicit ReprWriter(std::string& out) : out_(out) {}

  void write(const Value& value) { std::visit(*this, value.data); }

  void operator()(Value::Null) { out_ += "None"; }
  void operator()(bool value) { out_ += value ? "True" : "False"; }
  void operator()(std::int64_t value) { out_ += std::to_string(value); }
  void operator()(const BigInteger& value) { out_ += value.digits; }
  void operator()(double value) { append_float_repr(value, out_); }

  void operator()(std::string_view text) {
    const bool single = text.find('\'') == text.npos || text.find('"') != text.npos;
    const char quote = single ? '\'' : '"';
    const auto stays = [&](char32_t code_point) {
      if (code_point == '\\') return false;
      if (code_point == '\'') return !single;
      return code_point < 0x80 ? code_point >= 0x20 && code_point != 0x7F : is_printable(code_point);
    };

    out_ += quote;
    std::size_t run_begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto [code_point, n_bytes] = decode_code_point(text, at);
      if (!stays(code_point)) {
        out_.append(text, run_begin, at - run_begin);
        append_escape(code_point, out_);
        run_begin = at + n_bytes;
      }
      at += n_bytes;
    }
    out_.append(text, run_begin);
    out_ += quote;
  }

  void operator()(const Array& items) {
    out_ += '[';
    bool first = true;
    for (const Value& item : items) {
      if (!first) out_ += ", ";
      first = false;
      write(item);
    }
    out_ += ']';
  }

  void operator()(const Object& members) {
    out_ += '{';
    bool first = true;
    for (const Member& member : members) {
      if (!first) out_ += ", ";
      first = false;
      write(member.key);
      out_ += ": ";
      write(member.value);
    }
    out_ += '}';
  }

 private:
  std::string& out_;
};

}  // namespace

void write_python_repr(const Value& value, std::string& out) { ReprWriter(out).write(value); }

std::string quoted(std::string_view text) {
  std::string out;
  ReprWriter{out}(text);
  return out;
}

}  // namespace turnloom
