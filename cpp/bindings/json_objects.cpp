#include "json_objects.hpp"

#include <algorithm>
#include <string>

namespace turnloom {
namespace {

namespace py = pybind11;

// Python reads this many digits whatever limit it is set to.
constexpr std::size_t kDigitsAtOnce = 600;

py::object checked(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

py::object integer_of_digits(const std::string& digits) {
  return checked(PyLong_FromString(digits.c_str(), nullptr, 10));
}

py::object to_integer(std::string_view digits) {
  if (digits.size() <= kDigitsAtOnce) return integer_of_digits(std::string(digits));
  const bool negative = digits.front() == '-';
  if (negative) digits.remove_prefix(1);
  py::object value = py::int_(0);
  while (!digits.empty()) {
    const std::string_view part = digits.substr(0, kDigitsAtOnce);
    std::string power(part.size() + 1, '0');
    power.front() = '1';
    value = value * integer_of_digits(power) + integer_of_digits(std::string(part));
    digits.remove_prefix(part.size());
  }
  return negative ? -value : value;
}

py::object to_real(std::string_view text) {
  const double value = PyOS_string_to_double(std::string(text).c_str(), nullptr, nullptr);
  if (value == -1.0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return checked(PyFloat_FromDouble(value));
}

class Builder {
 public:
  Builder(std::string_view text, std::span<const JsonNode> nodes, py::list& duplicates)
      : text_(text), nodes_(nodes), duplicates_(duplicates) {}

  // The recursion is as deep as the value, which the scanner bounds.
  py::object build(std::size_t index) {  // NOLINT(misc-no-recursion)
    const JsonNode& node = nodes_[index];
    const std::string_view text = text_.substr(node.text.begin, node.text.end - node.text.begin);
    switch (node.kind) {
      case JsonNode::Kind::null:
        return py::none();
      case JsonNode::Kind::false_value:
        return py::bool_(false);
      case JsonNode::Kind::true_value:
        return py::bool_(true);
      case JsonNode::Kind::integer:
        return to_integer(text);
      case JsonNode::Kind::real:
        return to_real(text);
      case JsonNode::Kind::string:
        return string(node);
      case JsonNode::Kind::array:
        return array(index);
      default:
        return object(index);
    }
  }

 private:
  [[nodiscard]] py::str string(const JsonNode& node) const {
    if (!node.has_escapes)
      return to_str(text_.substr(node.text.begin + 1, node.text.end - node.text.begin - 2));
    return to_str(json_string(text_, node));
  }

  py::list array(std::size_t index) {  // NOLINT(misc-no-recursion)
    py::list items;
    const std::size_t end = nodes_[index].next;
    for (std::size_t item = index + 1; item < end; item = nodes_[item].next) items.append(build(item));
    return items;
  }

  py::dict object(std::size_t index) {  // NOLINT(misc-no-recursion)
    py::dict members;
    std::size_t n_members = 0;
    const std::size_t end = nodes_[index].next;
    for (std::size_t key = index + 1; key < end; key = nodes_[key + 1].next) {
      members[string(nodes_[key])] = build(key + 1);
      ++n_members;
    }
    if (members.size() != n_members) report_duplicates(index, end);
    return members;
  }

  void report_duplicates(std::size_t index, std::size_t end) {
    py::set seen;
    py::set reported;
    for (std::size_t key = index + 1; key < end; key = nodes_[key + 1].next) {
      const py::str name = string(nodes_[key]);
      if (seen.contains(name) && !reported.contains(name)) {
        duplicates_.append(name);
        reported.add(name);
      }
      seen.add(name);
    }
  }

  std::string_view text_;
  std::span<const JsonNode> nodes_;
  py::list& duplicates_;
};

}  // namespace

py::object to_python(std::string_view text, std::span<const JsonNode> nodes, std::size_t index,
                     py::list& duplicates) {
  return Builder(text, nodes, duplicates).build(index);
}

}  // namespace turnloom
