#include "float_repr.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace turnloom {

void append_float_repr(double value, std::string& out) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  // Both write the shortest digits that read back as the same number; Python chooses the form by this range.
  const double size = std::abs(value);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  std::array<char, 32> buffer;  // "-1.7976931348623157e+308" has 24 characters
  const char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                        fixed ? std::chars_format::fixed : std::chars_format::scientific)
                              .ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  out += text;
  if (fixed && text.find('.') == text.npos) out += ".0";
}

}  // namespace turnloom
