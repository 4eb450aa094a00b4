// Which vector instructions the loops over ids may use. Everywhere the loops are plain C++ that the compiler
// vectorises; on x86-64, gcc and clang compile them again for newer processors, and the best is chosen at run
// time.
#pragma once

#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define TURNLOOM_X86_LEVELS 1
#define TURNLOOM_AVX2 [[gnu::target("avx2")]]
#define TURNLOOM_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]
#else
#define TURNLOOM_X86_LEVELS 0
#endif

// A loop takes the instruction set of the function that it is inlined into.
#if defined(__GNUC__)
#define TURNLOOM_INLINE [[gnu::always_inline]] inline
#else
#define TURNLOOM_INLINE inline
#endif

namespace turnloom {

/// In order: each includes those before it.
enum class VectorLevel : std::uint8_t { portable, avx2, avx512 };

/// The highest level that this processor has.
inline VectorLevel best_vector_level() noexcept {
#if TURNLOOM_X86_LEVELS
  static const VectorLevel level = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
      return VectorLevel::avx512;
    }
    return __builtin_cpu_supports("avx2") ? VectorLevel::avx2 : VectorLevel::portable;
  }();
  return level;
#else
  return VectorLevel::portable;
#endif
}

}  // namespace turnloom
