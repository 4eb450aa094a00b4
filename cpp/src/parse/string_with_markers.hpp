// Markers inside a JSON string: text of the string, or what they are elsewhere?
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "parse/items.hpp"
#include "parse/json_scanner.hpp"

namespace turnloom {

/// Reads the rest of a string from its first marker on. The markers are text of it if the string goes on and
/// closes, and no opener stands behind a close marker in it. If it holds an opener, what follows the string
/// has to be in its place, too: an opener is rather the next call. Else the first marker does what it does
/// elsewhere.
///
/// What is held has no quote that is not escaped, so reading it again as something else opens no other
/// string, and no byte is read again more than once.
class StringWithMarkers {
 public:
  enum class Answer : std::uint8_t { undecided, text, marker };

  /// Begins with a marker, where `scanner.in_string()`.
  void begin(const Item& marker, const JsonScanner& scanner, std::string_view text);
  /// Takes the next item. Once it is decided, this item is to be read after the held ones.
  Answer take(const Item& item, const JsonScanner& scanner, std::string_view text);

  /// The items before the one that decided.
  [[nodiscard]] std::vector<Item> take_held() noexcept { return std::move(held_); }

 private:
  Answer read(const Item& item, const JsonScanner& scanner, std::string_view text);

  std::vector<Item> held_;
  StringScanner string_;
  bool closed_ = false;
  bool has_opener_ = false;
  bool has_closer_ = false;
};

}  // namespace turnloom
