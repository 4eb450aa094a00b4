// A fuzzer for any compiler: inputs that reach new code are kept and mutated further.
//
//   target FOLDER                        runs the inputs kept in the folder
//   target FOLDER SECONDS [SEED [keep]]  then mutations of them; `keep` adds to the folder what reaches new
//                                        code, and takes away what does not
//
// An input is written to `<target>.last` before it runs, and the file stays if that ends the program:
// `target FILE` runs it again.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace turnloom {

/// Which steps from one place of the code to the next were taken, by a hash of the two.
struct Coverage {
  std::array<bool, 1U << 16> steps{};
  std::size_t n_steps = 0;
  std::size_t last_place = 0;

  void visit(std::uintptr_t address) noexcept {
    const std::size_t place = address * 0x9E3779B97F4A7C15U >> 48;
    bool& step = steps[place ^ last_place];
    n_steps += step ? 0 : 1;
    step = true;
    last_place = place / 2;
  }
};

inline Coverage coverage;

}  // namespace turnloom

#if defined(__GNUC__)
// Code that is compiled with -fsanitize-coverage=trace-pc calls this in every branch.
extern "C" inline __attribute__((used)) void __sanitizer_cov_trace_pc() {
  // Relative, since addresses are others in every run.
  const auto here = reinterpret_cast<std::uintptr_t>(&turnloom::coverage);
  turnloom::coverage.visit(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - here);
}
#endif

namespace turnloom {

using FuzzInput = std::vector<std::uint8_t>;

class Fuzzer {
 public:
  using Check = void (*)(std::span<const std::uint8_t> input);

  Fuzzer(std::string name, Check check, std::uint64_t seed)
      : last_path_(std::move(name) + ".last"), check_(check), random_(seed) {}

  /// Runs a file, or all files of a folder, the smallest first. With `prune`, those are deleted that reach
  /// nothing that others do not.
  void replay(const std::filesystem::path& path, bool prune) {
    std::vector<std::filesystem::path> files{path};
    if (std::filesystem::is_directory(path)) {
      const std::filesystem::directory_iterator entries(path);
      files.assign(begin(entries), end(entries));
      // By name too, so that a run depends on nothing but its inputs.
      std::ranges::sort(files, {}, [](const std::filesystem::path& file) {
        return std::pair(std::filesystem::file_size(file), file);
      });
    }
    for (const std::filesystem::path& name : files) {
      std::ifstream file(name, std::ios::binary);
      FuzzInput input((std::istreambuf_iterator<char>(file)), {});
      if (!run(input) && prune) {
        std::filesystem::remove(name);
      } else {
        inputs_.push_back(std::move(input));
      }
    }
  }

  /// Runs mutations; those that reach new code are mutated in turn and, with a folder, kept in it.
  void mutate(std::chrono::seconds time, const std::filesystem::path& keep) {
    if (inputs_.empty()) inputs_.emplace_back();
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      FuzzInput input = mutated();
      if (!run(input)) continue;
      if (!keep.empty()) write(keep / name_of(input), input);
      inputs_.push_back(std::move(input));
    }
  }

  void report() const {
    std::printf("%zu runs ok, %zu inputs, %zu steps\n", n_runs_, inputs_.size(), coverage.n_steps);
  }

 private:
  static constexpr std::size_t kMaxBytes = 800;

  // Whether it reaches new code.
  bool run(const FuzzInput& input) {
    write(last_path_, input);
    const std::size_t n_steps = coverage.n_steps;
    coverage.last_place = 0;
    check_(input);
    ++n_runs_;
    std::filesystem::remove(last_path_);
    return coverage.n_steps != n_steps;
  }

  static void write(const std::filesystem::path& path, const FuzzInput& input) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
  }

  static std::string name_of(const FuzzInput& input) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const std::uint8_t byte : input) hash = (hash ^ byte) * 0x100000001B3U;
    std::array<char, 17> name{};
    std::snprintf(name.data(), name.size(), "%016llx", static_cast<unsigned long long>(hash));
    return name.data();
  }

  std::size_t below(std::size_t n) { return random_() % n; }

  FuzzInput mutated() {
    FuzzInput input = inputs_[below(inputs_.size())];
    for (std::size_t n = 1 + below(6); n > 0; --n) mutate_once(input);
    if (input.size() > kMaxBytes) input.resize(kMaxBytes);
    return input;
  }

  void mutate_once(FuzzInput& input) {
    const std::size_t begin = below(input.size() + 1);
    const std::size_t n = std::min(input.size() - begin, 1 + below(below(4) == 0 ? 200 : 8));
    const auto at = input.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto end = at + static_cast<std::ptrdiff_t>(n);
    switch (below(4)) {
      case 0:
        std::generate(at, end, [&] { return static_cast<std::uint8_t>(random_()); });
        break;
      case 1:
        input.erase(at, end);
        break;
      case 2: {
        FuzzInput added(1 + below(below(4) == 0 ? 200 : 8));
        for (std::uint8_t& byte : added) byte = static_cast<std::uint8_t>(random_());
        input.insert(at, added.begin(), added.end());
        break;
      }
      default: {  // a part of another input
        const FuzzInput& other = inputs_[below(inputs_.size())];
        const std::size_t first = below(other.size() + 1);
        const std::size_t n_added = std::min(other.size() - first, 1 + below(200));
        const FuzzInput added(other.begin() + static_cast<std::ptrdiff_t>(first),
                              other.begin() + static_cast<std::ptrdiff_t>(first + n_added));
        input.insert(at, added.begin(), added.end());
      }
    }
  }

  std::string last_path_;
  Check check_;
  std::mt19937_64 random_;
  std::vector<FuzzInput> inputs_;
  std::size_t n_runs_ = 0;
};

/// The main function of a fuzz target.
inline int fuzz(const char* name, Fuzzer::Check check, int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FOLDER|FILE [SECONDS [SEED [keep]]]\n", name);
    return 2;
  }
  const std::chrono::seconds time(argc > 2 ? std::atol(argv[2]) : 0);
  Fuzzer fuzzer(name, check, argc > 3 ? static_cast<std::uint64_t>(std::atoll(argv[3])) : 1);
  const bool keep = argc > 4;
  fuzzer.replay(argv[1], keep);
  fuzzer.report();
  if (time.count() > 0) {
    fuzzer.mutate(time, keep ? argv[1] : "");
    fuzzer.report();
  }
  return 0;
}

}  // namespace turnloom
