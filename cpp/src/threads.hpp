// Work shared out to threads that are joined before the call returns.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace turnloom {

/// Calls `work(i)` for every i below `n`, on that many threads, this one among them. Rethrows the first
/// failure.
template <typename Work>
void run_on_threads(std::size_t threads, std::size_t n, Work work) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failures(std::max<std::size_t>(1, std::min(threads, n)));
  const auto loop = [&](std::size_t thread) {
    try {
      for (std::size_t i = next++; i < n; i = next++) work(i);
    } catch (...) {
      failures[thread] = std::current_exception();
      next = n;
    }
  };
  std::vector<std::thread> started;
  started.reserve(failures.size());
  try {
    for (std::size_t i = 1; i < failures.size(); ++i) started.emplace_back(loop, i);
  } catch (const std::system_error&) {
    // The system gives no more threads: those that run share the work.
  }
  loop(0);
  for (std::thread& thread : started) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace turnloom
