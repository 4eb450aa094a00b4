// A vector that is made longer without writing to it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace turnloom {

/// Leaves new elements as the memory is, where std::allocator would fill them with zeros.
template <typename T>
class RawAllocator : public std::allocator<T> {
 public:
  template <typename U>
  struct rebind {
    using other = RawAllocator<U>;
  };

  template <typename U>
  void construct(U* element) noexcept {
    ::new (static_cast<void*>(element)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* element, Arguments&&... arguments) {
    std::construct_at(element, std::forward<Arguments>(arguments)...);
  }
};

/// For columns that are resized first and written next: `resize` gives elements without a value.
template <typename T>
using RawVector = std::vector<T, RawAllocator<T>>;

}  // namespace turnloom
