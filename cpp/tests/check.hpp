// The few lines of test framework that the core's own tests need.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

/// Ends the program with the place and the expression when it does not hold.
#define CHECK(expression)                                                                 \
  do {                                                                                    \
    if (!(expression)) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #expression); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (false)
