// Memory of tables that are read at random.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace turnloom {

/// Asks for the cache line of an address that is read soon. Any address will do.
inline void prefetch(const void* address) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  static_cast<void>(address);
#endif
}

/// An array of a fixed number of elements, all bytes zero at first. It begins at a cache line and, where the
/// system has them, lies in huge pages: a look-up in a table of many megabytes is then not a miss in two
/// caches.
template <typename T>
class LargeArray {
 public:
  explicit LargeArray(std::size_t n) : n_(n) {
    const std::size_t n_bytes = n * sizeof(T);
    const std::size_t alignment = n_bytes >= kHugePage ? kHugePage : kCacheLine;
    // From calloc, so that memory is taken only where something is written.
    memory_.reset(std::calloc(n_bytes + alignment, 1));
    if (memory_ == nullptr) throw std::bad_alloc();
    void* begin = memory_.get();
    std::size_t space = n_bytes + alignment;
    begin_ = static_cast<T*>(std::align(alignment, n_bytes, begin, space));
#if defined(__linux__)
    // Advice: nothing is lost where it is not taken.
    if (alignment == kHugePage) madvise(begin_, n_bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  }

  [[nodiscard]] std::size_t size() const noexcept { return n_; }
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return begin_[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return begin_[index]; }

 private:
  static_assert(std::is_trivially_destructible_v<T>);
  static constexpr std::size_t kCacheLine = 64;
  static constexpr std::size_t kHugePage = std::size_t{1} << 21;

  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };

  std::unique_ptr<void, Free> memory_;
  T* begin_;
  std::size_t n_;
};

}  // namespace turnloom
