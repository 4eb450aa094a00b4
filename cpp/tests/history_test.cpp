// Columns that grow: snapshots stay, copies share memory until both grow.
#include "turnloom/history.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "check.hpp"
#include "turnloom/prompt.hpp"

namespace {

using turnloom::GrowingArray;
using turnloom::TokenColumns;
using turnloom::TokenHistory;

std::vector<int> elements(const GrowingArray<int>& array) {
  return {array.values().begin(), array.values().end()};
}

void test_snapshots_stay() {
  GrowingArray<int> array;
  CHECK(array.snapshot().values.empty());
  std::vector<GrowingArray<int>::Snapshot> snapshots;
  for (int i = 0; i < 1000; ++i) {
    array.append(1, i);
    snapshots.push_back(array.snapshot());
  }
  for (std::size_t n = 0; n < snapshots.size(); ++n) {
    const auto values = snapshots[n].values;
    CHECK(values.size() == n + 1);
    CHECK(values.back() == static_cast<int>(n));
  }
}

void test_copies_go_their_own_ways() {
  GrowingArray<int> first;
  first.append(std::vector<int>{1, 2, 3});
  GrowingArray<int> second = first;
  CHECK(second.values().data() == first.values().data());
  first.append(1, 4);
  second.append(1, 5);
  GrowingArray<int> third = first;
  third.append(1, 6);
  first.append(1, 7);
  CHECK((elements(first) == std::vector{1, 2, 3, 4, 7}));
  CHECK((elements(second) == std::vector{1, 2, 3, 5}));
  CHECK((elements(third) == std::vector{1, 2, 3, 4, 6}));
}

void test_copies_on_threads() {
  GrowingArray<int> common;
  common.append(100, -1);
  std::vector<GrowingArray<int>> copies(4, common);
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([&copy = copies[static_cast<std::size_t>(id)], id] {
      for (int i = 0; i < 1000; ++i) copy.append(3, id);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int id = 0; id < 4; ++id) {
    const auto values = copies[static_cast<std::size_t>(id)].values();
    CHECK(values.size() == 3100);
    CHECK(std::ranges::all_of(values.subspan(100), [&](int value) { return value == id; }));
  }
}

void test_history() {
  TokenHistory history;
  const TokenColumns prompt{.token_ids = {5, 6},
                            .message_indices = {turnloom::kNoMessage, 1},
                            .fields = {0, 1},
                            .sampled_mask = {0, 0},
                            .is_content = {0, 1},
                            .loss_mask = {},
                            .byte_offsets = {}};
  history.append_rendered(prompt, 3);
  history.append_sampled(std::vector{7}, std::vector<std::uint8_t>{8}, std::vector{-0.5F}, 5);
  CHECK(std::ranges::equal(history.token_ids.values(), std::vector{5, 6, 7}));
  CHECK(std::ranges::equal(history.message_indices.values(), std::vector{-1, 4, 5}));
  CHECK(std::ranges::equal(history.loss_mask.values(), std::vector<std::uint8_t>{0, 0, 1}));
  CHECK(std::ranges::equal(history.logprobs.values(), std::vector{0.0F, 0.0F, -0.5F}));
  CHECK(history.is_attributed);
  // Without offsets only ids and messages are known.
  history.append_rendered({.token_ids = {9},
                           .message_indices = {0},
                           .fields = {},
                           .sampled_mask = {},
                           .is_content = {},
                           .loss_mask = {},
                           .byte_offsets = {}},
                          6);
  CHECK(!history.is_attributed);
  CHECK(history.size() == 4);
}

}  // namespace

int main() {
  test_snapshots_stay();
  test_copies_go_their_own_ways();
  test_copies_on_threads();
  test_history();
}
