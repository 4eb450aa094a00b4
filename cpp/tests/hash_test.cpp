// Hashing side by side gives what hashing one by one does, with every set of instructions.
#include "turnloom/hash.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "ids/hash_lanes.hpp"
#include "turnloom/tool_call_ids.hpp"

using namespace turnloom;

namespace {

void test_published_values() {
  CHECK(fnv1a_64("") == 0xcbf29ce484222325U);
  CHECK(fnv1a_64("a") == 0xaf63dc4c8601ec8cU);
  CHECK(fnv1a_64("foobar") == 0x85944171f73967e8U);
  CHECK(fnv1a_64("bar", fnv1a_64("foo")) == fnv1a_64("foobar"));
  CHECK(fnv1a_64("id", fnv1a_64_round(0x0201)) == fnv1a_64(std::string_view("\x01\x02\0\0\0\0\0\0id", 10)));
}

/// Rows in memory of exactly their size, so that the address sanitizer sees a read beyond one.
std::vector<std::vector<char>> random_rows(std::mt19937& random, std::size_t n_rows, std::size_t longest) {
  std::vector<std::vector<char>> rows(n_rows);
  for (std::vector<char>& row : rows) {
    row.resize(random() % (longest + 1));
    row.shrink_to_fit();
    for (char& byte : row) byte = static_cast<char>(random());
  }
  return rows;
}

std::vector<std::string_view> views(const std::vector<std::vector<char>>& rows) {
  std::vector<std::string_view> result;
  result.reserve(rows.size());
  for (const std::vector<char>& row : rows) result.emplace_back(row.data(), row.size());
  return result;
}

void test_every_level() {
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same every time
  for (std::size_t longest = 0; longest < 90; ++longest) {
    std::vector<std::vector<char>> rows = random_rows(random, kHashLanes, longest);
    if (longest % 3 == 0) rows[longest % kHashLanes].resize(40 * longest);  // one by itself
    if (longest % 3 == 1) rows = std::vector(kHashLanes, rows[0]);          // all of one length
    const std::vector<std::string_view> group = views(rows);
    for (int level = 0; level <= static_cast<int>(best_vector_level()); ++level) {
      std::uint64_t hashes[kHashLanes];
      hash_lanes(group.data(), longest, hashes, static_cast<VectorLevel>(level));
      for (std::size_t i = 0; i < kHashLanes; ++i) CHECK(hashes[i] == fnv1a_64(group[i], longest));
    }
  }
}

void test_batches() {
  std::mt19937 random(2);  // NOLINT(bugprone-random-generator-seed): the same every time
  for (std::size_t n_rows = 0; n_rows < 70; ++n_rows) {
    const std::vector<std::vector<char>> rows = random_rows(random, n_rows, 50);
    std::vector<std::uint64_t> hashes(n_rows);
    fnv1a_64_batch(views(rows), kFnvOffsetBasis, hashes);
    for (std::size_t i = 0; i < n_rows; ++i) CHECK(hashes[i] == fnv1a_64(views(rows)[i]));
  }
}

void test_ids() {
  const std::vector<TokenId> ids = {1, 0x01020304, 7, 9, 2147483647};
  CHECK(fnv1a_64(std::span(ids).first(2)) == fnv1a_64(std::string_view("\1\0\0\0\4\3\2\1", 8)));
  const std::vector<std::int64_t> offsets = {1, 1, 3, 5};
  const std::vector<std::uint64_t> hashes = fnv1a_64_batch(ids, offsets, kFnvOffsetBasis);
  CHECK(hashes.size() == 3);
  CHECK(hashes[0] == kFnvOffsetBasis);
  CHECK(hashes[1] == fnv1a_64(std::span(ids).subspan(1, 2)));
  CHECK(fnv1a_64(hashed_bytes(ids)) == fnv1a_64(ids));
  const std::vector<std::uint64_t> prefixes = prefix_hashes(ids, 2);
  CHECK(prefixes.size() == 2);
  CHECK(prefixes[1] == fnv1a_64(std::span(ids).first(4)));
}

void test_replaced_ids() {
  const ToolCallIdFormat mistral(ToolCallIdFormat::Kind::alphanumeric, 9);
  CHECK(mistral.conform("call_0aB") == "14BbaXa9A");
  const std::vector<std::string_view> ids = {"call_0aB", "", "abcdefghi", "abcdefghi\n"};
  const ReplacedIds replaced = mistral.conform_batch(ids);
  CHECK((replaced.rows == std::vector<std::size_t>{0, 3}));
  const FlatTexts<std::int32_t> flat = with_replaced_ids<std::int32_t>(ids, replaced);
  CHECK(flat.text == "14BbaXa9AabcdefghiuO4hJ2W6H");
  CHECK((flat.offsets == std::vector<std::int32_t>{0, 9, 9, 18, 27}));
  // Bytes that are no UTF-8 come from outside in Arrow arrays.
  const ToolCallIdFormat url_safe(ToolCallIdFormat::Kind::url_safe);
  CHECK(url_safe.conform("\xff\x80\x80z").starts_with("_z_"));
  const ToolCallIdFormat short_ids(ToolCallIdFormat::Kind::max_length, 18);
  CHECK(short_ids.conform(std::string(99, '\xff')).size() == 18);
  CHECK(short_ids.accepts(std::string(99, '\x80')));
}

}  // namespace

int main() {
  test_published_values();
  test_every_level();
  test_batches();
  test_ids();
  test_replaced_ids();
}
