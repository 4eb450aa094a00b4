// Strings by index, in one block of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "turnloom/error.hpp"

namespace turnloom {

/// Immutable.
class PackedStrings {
 public:
  /// Throws Error (value) if they have more than 4 GiB.
  explicit PackedStrings(const std::vector<std::string_view>& strings) {
    std::size_t n_bytes = 0;
    for (const std::string_view string : strings) n_bytes += string.size();
    if (n_bytes > UINT32_MAX) throw Error(ErrorKind::value, "vocabulary", "longer than 4 GiB");
    bytes_.reserve(n_bytes);
    begins_.reserve(strings.size() + 1);
    for (const std::string_view string : strings) {
      begins_.push_back(static_cast<std::uint32_t>(bytes_.size()));
      bytes_ += string;
    }
    begins_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  }

  [[nodiscard]] std::size_t size() const noexcept { return begins_.size() - 1; }
  [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
    return {bytes_.data() + begins_[index], begins_[index + 1] - begins_[index]};
  }

 private:
  std::string bytes_;
  std::vector<std::uint32_t> begins_;  ///< of each string, and the end of the last
};

}  // namespace turnloom
