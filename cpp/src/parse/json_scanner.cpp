#include "parse/json_scanner.hpp"

#include <array>

namespace turnloom {
namespace {

constexpr std::size_t kMaxLevels = 501;  // a call and arguments of 500 levels, which is what can be rendered
constexpr std::size_t kMaxIntegerDigits = 4300;

bool is_digit(char byte) noexcept { return byte >= '0' && byte <= '9'; }

bool is_hex_digit(char byte) noexcept {
  return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}

// Bytes of a string that are neither its end nor the begin of an escape nor forbidden.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t i = 0x20; i < plain.size(); ++i) plain[i] = i != '"' && i != '\\';
  return plain;
}();

bool is_plain(char byte) noexcept { return kPlain[static_cast<unsigned char>(byte)]; }

}  // namespace

StringScanner::Step StringScanner::step(char byte) noexcept {
  if (escape_ != 0) {
    --escape_;
    if (!after_backslash_) return is_hex_digit(byte) ? Step::inside : Step::failed;
    after_backslash_ = false;
    if (byte == 'u') escape_ = 4;
    return std::string_view("\"\\/bfnrtu").find(byte) == std::string_view::npos ? Step::failed : Step::inside;
  }
  if (byte == '"') return Step::closed;
  if (byte == '\\') {
    escape_ = 1;
    after_backslash_ = true;
    has_escapes_ = true;
    return Step::inside;
  }
  return is_plain(byte) ? Step::inside : Step::failed;
}

JsonScanner::Event JsonScanner::scan(std::string_view text, std::size_t& at, std::size_t end) {
  while (at < end) {
    const char byte = text[at];
    Event event = Event::more;
    if (is_number(state_)) {
      if (continue_number(byte)) {
        ++at;
        continue;
      }
      if (!failed()) event = end_number(at);  // and the byte is read again
      if (failed()) return Event::failed;
      if (event != Event::more) return event;
      continue;
    }
    switch (state_) {
      case State::string:
        event = scan_string(text, at, end);
        if (event != Event::more) return event;
        continue;
      case State::literal:
        if (byte != rest_.front()) return fail();
        rest_.remove_prefix(1);
        if (rest_.empty()) event = end_node(nodes_.size() - 1, at + 1);
        break;
      case State::failed:
        return Event::failed;
      default:
        if (is_json_space(byte)) break;
        switch (state_) {
          case State::first_element:
          case State::first_key:
          case State::comma:
            if (!open_.empty() && byte == (nodes_[open_.back()].kind == JsonNode::Kind::object ? '}' : ']')) {
              const std::size_t node = open_.back();
              open_.pop_back();
              event = end_node(node, at + 1);
              break;
            }
            if (state_ == State::first_element) {
              event = begin_value(byte, at);
            } else if (state_ == State::first_key && byte == '"') {
              string_is_key_ = true;
              begin_node(JsonNode::Kind::string, at);
            } else if (state_ == State::comma && byte == ',' && !open_.empty()) {
              state_ = nodes_[open_.back()].kind == JsonNode::Kind::object ? State::key : State::value;
            } else {
              return fail();
            }
            break;
          case State::value:
            event = begin_value(byte, at);
            break;
          case State::key:
            if (byte != '"') return fail();
            string_is_key_ = true;
            begin_node(JsonNode::Kind::string, at);
            break;
          default:  // State::colon
            if (byte != ':') return fail();
            state_ = State::value;
            break;
        }
    }
    if (event == Event::failed) return event;
    ++at;
    if (event != Event::more) return event;
  }
  return Event::more;
}

bool JsonScanner::finish(std::size_t at) {
  if (is_number(state_) && open_.empty()) end_number(at);
  return !failed() && complete_;
}

bool JsonScanner::may_follow_string(char byte) const noexcept {
  if (string_is_key_) return byte == ':';
  if (open_.empty()) return false;
  return byte == ',' || byte == (nodes_[open_.back()].kind == JsonNode::Kind::object ? '}' : ']');
}

bool JsonScanner::in_outermost_object() const noexcept {
  return open_.size() == 1 && nodes_.front().kind == JsonNode::Kind::object;
}

JsonScanner::Event JsonScanner::begin_value(char byte, std::size_t at) {
  using Kind = JsonNode::Kind;
  const bool is_member = in_outermost_object();
  switch (byte) {
    case '{':
    case '[':
      if (open_.size() == kMaxLevels) return fail();
      begin_node(byte == '{' ? Kind::object : Kind::array, at);
      open_.push_back(nodes_.size() - 1);
      state_ = byte == '{' ? State::first_key : State::first_element;
      break;
    case '"':
      string_is_key_ = false;
      begin_node(Kind::string, at);
      break;
    case 't':
      begin_node(Kind::true_value, at);
      rest_ = "rue";
      break;
    case 'f':
      begin_node(Kind::false_value, at);
      rest_ = "alse";
      break;
    case 'n':
      begin_node(Kind::null, at);
      rest_ = "ull";
      break;
    default:
      if (byte != '-' && !is_digit(byte)) return fail();
      begin_node(Kind::integer, at);
      state_ = byte == '-' ? State::minus : byte == '0' ? State::zero : State::integer;
      n_digits_ = 1;
  }
  return is_member ? Event::value_begin : Event::more;
}

void JsonScanner::begin_node(JsonNode::Kind kind, std::size_t at) {
  nodes_.push_back({kind, false, {at, at}, nodes_.size() + 1});
  if (kind == JsonNode::Kind::string) {
    state_ = State::string;
    string_ = {};
  } else {
    state_ = State::literal;
  }
}

JsonScanner::Event JsonScanner::end_node(std::size_t node, std::size_t end) {
  nodes_[node].text.end = end;
  nodes_[node].next = nodes_.size();
  state_ = State::comma;
  complete_ = open_.empty();
  if (complete_) return Event::complete;
  return in_outermost_object() ? Event::value_end : Event::more;
}

JsonScanner::Event JsonScanner::scan_string(std::string_view text, std::size_t& at, std::size_t end) {
  while (at < end) {
    if (string_.between_characters()) {
      while (at < end && is_plain(text[at])) ++at;
      if (at == end) break;
    }
    const StringScanner::Step step = string_.step(text[at]);
    if (step == StringScanner::Step::failed) return fail();
    ++at;
    if (step == StringScanner::Step::inside) continue;
    nodes_.back().has_escapes = string_.has_escapes();
    if (!string_is_key_) return end_node(nodes_.size() - 1, at);
    nodes_.back().text.end = at;
    state_ = State::colon;
    return in_outermost_object() ? Event::key : Event::more;
  }
  return Event::more;
}

bool JsonScanner::continue_number(char byte) noexcept {
  const bool digit = is_digit(byte);
  const bool e = byte == 'e' || byte == 'E';
  State next = State::failed;
  switch (state_) {
    case State::minus:
      if (digit) next = byte == '0' ? State::zero : State::integer;
      break;
    case State::integer:
      if (digit) {
        if (++n_digits_ > kMaxIntegerDigits) {
          state_ = State::failed;
          return false;
        }
        return true;
      }
      [[fallthrough]];
    case State::zero:
      if (byte == '.') next = State::point;
      if (e) next = State::exponent;
      break;
    case State::point:
      if (digit) next = State::fraction;
      break;
    case State::fraction:
      if (digit) next = State::fraction;
      if (e) next = State::exponent;
      break;
    case State::exponent:
      if (byte == '+' || byte == '-') next = State::exponent_sign;
      if (digit) next = State::exponent_digits;
      break;
    default:  // the sign or the digits of the exponent
      if (digit) next = State::exponent_digits;
  }
  if (next == State::failed) return false;
  if (next == State::point || next == State::exponent) nodes_.back().kind = JsonNode::Kind::real;
  state_ = next;
  return true;
}

JsonScanner::Event JsonScanner::end_number(std::size_t end) {
  switch (state_) {
    case State::zero:
    case State::integer:
    case State::fraction:
    case State::exponent_digits:
      return end_node(nodes_.size() - 1, end);
    default:
      return fail();
  }
}

JsonScanner::Event JsonScanner::fail() noexcept {
  state_ = State::failed;
  return Event::failed;
}

}  // namespace turnloom
