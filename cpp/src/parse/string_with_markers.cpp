#include "parse/string_with_markers.hpp"

namespace turnloom {

void StringWithMarkers::begin(const Item& marker, const JsonScanner& scanner, std::string_view text) {
  *this = {};
  take(marker, scanner, text);
}

StringWithMarkers::Answer StringWithMarkers::take(const Item& item, const JsonScanner& scanner,
                                                  std::string_view text) {
  const Answer answer = read(item, scanner, text);
  if (answer == Answer::undecided) held_.push_back(item);
  return answer;
}

StringWithMarkers::Answer StringWithMarkers::read(const Item& item, const JsonScanner& scanner,
                                                  std::string_view text) {
  if (item.kind == Item::Kind::end) return closed_ ? Answer::text : Answer::marker;
  if (!closed_) {
    if (item.kind == Item::Kind::call_open) {
      if (has_closer_) return Answer::marker;
      has_opener_ = true;
    }
    has_closer_ = has_closer_ || item.kind == Item::Kind::call_close;
  }
  for (const char byte : text.substr(item.begin, item.end - item.begin)) {
    if (closed_) {
      if (is_json_space(byte)) continue;
      return scanner.may_follow_string(byte) ? Answer::text : Answer::marker;
    }
    switch (string_.step(byte)) {
      case StringScanner::Step::inside:
        break;
      case StringScanner::Step::failed:
        return Answer::marker;
      case StringScanner::Step::closed:
        if (!has_opener_) return Answer::text;
        closed_ = true;
    }
  }
  return Answer::undecided;
}

}  // namespace turnloom
