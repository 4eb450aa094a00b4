// Searches give what a plain loop does, for every width and with every set of instructions.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "check.hpp"
#include "ids/scan_at_level.hpp"
#include "turnloom/error.hpp"

using namespace turnloom;

namespace {

std::vector<std::vector<TokenId>> token_sets() {
  std::vector<std::vector<TokenId>> sets = {
      {}, {100}, {98, 100, 101}, {0, 127}, {5, 300, 70'000, 2'147'483'647}, {151'643, 151'645, 151'643}};
  std::vector<TokenId> many;
  for (TokenId token = 3; token < 1'000'000'000; token += 1 + token / 2) many.push_back(token);
  sets.push_back(many);
  return sets;
}

template <typename Id>
std::vector<Id> random_ids(std::mt19937_64& random, std::size_t n, const std::vector<TokenId>& tokens,
                           double density) {
  const auto max_id = static_cast<std::uint64_t>(std::numeric_limits<Id>::max());
  const std::uint64_t n_ids = std::min<std::uint64_t>(max_id, 2'147'483'647) + 1;
  std::vector<Id> ids(n);
  for (Id& id : ids) {
    id = static_cast<Id>(random() % n_ids);
    const bool is_hit = std::uniform_real_distribution<double>()(random) < density;
    if (is_hit && !tokens.empty()) {
      const TokenId token = tokens[random() % tokens.size()];
      if (static_cast<std::uint64_t>(token) < n_ids) id = static_cast<Id>(token);
    }
  }
  return ids;
}

template <typename Id>
void check_scan(std::span<const Id> ids, const std::vector<TokenId>& tokens, VectorLevel level) {
  TokenHits expected;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<TokenId>(ids[i]);  // NOLINT(bugprone-signed-char-misuse): they are numbers
    if (std::find(tokens.begin(), tokens.end(), id) == tokens.end()) continue;
    expected.positions.push_back(static_cast<std::int64_t>(i));
    expected.tokens.push_back(id);
  }
  const TokenSet set(tokens);
  const TokenHits hits = scan_at_level(ids, set, level);
  CHECK(hits.positions == expected.positions);
  CHECK(hits.tokens == expected.tokens);
  const std::optional<std::size_t> last = find_last_at_level(ids, set, level);
  CHECK(last.has_value() == !expected.positions.empty());
  if (last) CHECK(static_cast<std::int64_t>(*last) == expected.positions.back());
}

template <typename Id>
void test_sizes_alignments_and_densities(VectorLevel level) {
  std::mt19937_64 random(3);  // NOLINT(bugprone-random-generator-seed): the same every time
  for (const std::vector<TokenId>& tokens : token_sets()) {
    for (std::size_t n = 0; n <= 300; ++n) {
      const double density = std::vector{0.0, 0.01, 0.3, 1.0}[n % 4];
      const std::size_t begin = n % 17;
      const std::vector<Id> ids = random_ids<Id>(random, n + begin, tokens, density);
      check_scan(std::span<const Id>(ids).subspan(begin), tokens, level);
    }
  }
}

template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::value);
    return error.what();
  }
  return "";
}

template <typename Id>
void test_invalid_ids(VectorLevel level, Id invalid) {
  const TokenSet tokens({1});
  for (std::size_t position = 0; position < 200; ++position) {
    std::vector<Id> ids(200);
    ids[position] = invalid;
    const std::string text = "ids[" + std::to_string(position) +
                             "]: expected a token id from 0 to 2147483647, got " + std::to_string(invalid);
    CHECK(error_of([&] { return scan_at_level<Id>(ids, tokens, level); }) == text);
    CHECK(error_of([&] { return find_last_at_level<Id>(ids, tokens, level); }) == text);
  }
}

void test_rows() {
  const std::vector<std::int32_t> ids = {7, 1, 7, 7, 2, 7};
  const std::vector<std::int64_t> offsets = {1, 1, 3, 4, 6};
  const RaggedTokenHits found = scan<std::int32_t>(ids, offsets, TokenSet({7}));
  CHECK((found.rows == std::vector<std::int64_t>{1, 2, 3}));
  CHECK((found.hits.positions == std::vector<std::int64_t>{1, 0, 1}));
  CHECK(count_tokens<std::int32_t>(ids, TokenSet({7, 2})) == 5);
  CHECK(find_first<std::int32_t>(ids, TokenSet({2, 1})) == 1U);
  CHECK(!find_first<std::int32_t>(ids, TokenSet({3})));
}

void test_level(VectorLevel level) {
  test_sizes_alignments_and_densities<std::int8_t>(level);
  test_sizes_alignments_and_densities<std::int16_t>(level);
  test_sizes_alignments_and_densities<std::int32_t>(level);
  test_sizes_alignments_and_densities<std::int64_t>(level);
  test_sizes_alignments_and_densities<std::uint8_t>(level);
  test_sizes_alignments_and_densities<std::uint16_t>(level);
  test_sizes_alignments_and_densities<std::uint32_t>(level);
  test_sizes_alignments_and_densities<std::uint64_t>(level);
  test_invalid_ids<std::int8_t>(level, -1);
  test_invalid_ids<std::int16_t>(level, -300);
  test_invalid_ids<std::int32_t>(level, std::numeric_limits<std::int32_t>::min());
  test_invalid_ids<std::int64_t>(level, 2'147'483'648);
  test_invalid_ids<std::uint32_t>(level, 2'147'483'648);
  test_invalid_ids<std::uint64_t>(level, std::numeric_limits<std::uint64_t>::max());
}

}  // namespace

int main() {
  for (int level = 0; level <= static_cast<int>(best_vector_level()); ++level) {
    test_level(static_cast<VectorLevel>(level));
  }
  test_rows();
}
