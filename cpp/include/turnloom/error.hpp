// The one exception type of the core.
#pragma once

#include <stdexcept>
#include <string>

namespace turnloom {

/// What a caller did wrong; the bindings map each kind to one Python class.
enum class ErrorKind {
  type,    ///< TypeError: a value of the wrong type
  value,   ///< ValueError: a value of the right type that is not allowed
  key,     ///< KeyError: an unknown name
  render,  ///< RenderError: a conversation that the format cannot express without loss
};

/// An error at a place of the caller's input. `what()` is "place: reason".
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& place, const std::string& reason)
      : std::runtime_error(place + ": " + reason), kind_(kind) {}

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace turnloom
