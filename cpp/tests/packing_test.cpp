// Loss rules, cut rows and packed rows, without an interpreter.
#include "turnloom/packing.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "byte_encoder.hpp"
#include "check.hpp"
#include "turnloom/error.hpp"
#include "turnloom/renderer.hpp"

using namespace turnloom;

namespace {

using Offsets = std::vector<std::int64_t>;

Message message(std::string_view role, std::string_view text) {
  Message message;
  message.role = role;
  message.text = text;
  message.has_content = true;
  return message;
}

Conversation chat() {
  Conversation conversation;
  conversation.messages = {message("user", "a"), message("assistant", "b"), message("user", "c"),
                           message("assistant", "d")};
  return conversation;
}

LossRule rule_of(LossRule::Turns turns, std::vector<std::size_t> messages = {}) {
  LossRule rule;
  rule.turns = turns;
  rule.messages = std::move(messages);
  return rule;
}

// What of a ChatML text is trained: every byte is a token there, but for the markers.
std::string trained(const Conversation& conversation, const LossRule& rule) {
  const Renderer chatml(byte_tokenizer(), {.family = "chatml", .options = {}});
  const RenderedColumns rendered = chatml.render(conversation, {}, rule);
  const TokenColumns& columns = rendered.columns;
  const std::vector<std::uint8_t>& mask =
      columns.loss_mask.empty() ? columns.sampled_mask : columns.loss_mask;
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (mask[i] != 0) text += columns.token_ids[i] < 256 ? static_cast<char>(columns.token_ids[i]) : '.';
  }
  return text;
}

void test_loss_rules() {
  CHECK(trained(chat(), {}) == "b.d.");
  CHECK(trained(chat(), rule_of(LossRule::Turns::last)) == "d.");
  CHECK(trained(chat(), rule_of(LossRule::Turns::listed, {1, 1})) == "b.");
  LossRule contents;
  contents.content_roles = {"user"};
  contents.stop = false;
  CHECK(trained(chat(), contents) == "abcd");
  Conversation quiet = chat();
  quiet.messages[3].train = false;
  CHECK(trained(quiet, {}) == "b.");
  CHECK(trained(quiet, rule_of(LossRule::Turns::last)).empty());
  for (const std::size_t index : {std::size_t{0}, std::size_t{4}}) {
    std::optional<ErrorKind> kind;
    try {
      (void)trained(chat(), rule_of(LossRule::Turns::listed, {index}));
    } catch (const Error& error) {
      kind = error.kind();
    }
    CHECK(kind == ErrorKind::value);
  }
}

void test_rows_with_and_without_a_rule() {
  const Renderer chatml(byte_tokenizer(), {.family = "chatml", .options = {}});
  const Conversation conversation = chat();
  const LossRule last = rule_of(LossRule::Turns::last);
  const std::vector<BatchRow> plain(40, {&conversation});
  CHECK(chatml.render_batch(plain, {}, 1).columns.loss_mask.empty());
  std::vector<BatchRow> mixed = plain;
  mixed[39].loss = &last;
  const BatchColumns batch = chatml.render_batch(mixed, {}, 2);
  CHECK(batch.columns.loss_mask.size() == batch.columns.size());
  const auto count = [&](const std::vector<std::uint8_t>& mask, std::size_t row) {
    const auto begin = mask.begin() + batch.offsets[row];
    return std::accumulate(begin, mask.begin() + batch.offsets[row + 1], 0);
  };
  CHECK(count(batch.columns.loss_mask, 0) == count(batch.columns.sampled_mask, 0));
  CHECK(count(batch.columns.loss_mask, 39) == 2);
}

void test_cut_rows() {
  const Offsets offsets = {0, 2, 2, 7};
  const std::vector<TokenId> ids = {0, 1, 2, 3, 4, 5, 6};
  const auto cut = [&](CutSide side) { return take_rows<TokenId>(ids, 1, cut_rows(offsets, 3, side)); };
  CHECK((cut(CutSide::right) == std::vector<TokenId>{0, 1, 2, 3, 4}));
  CHECK((cut(CutSide::left) == std::vector<TokenId>{0, 1, 4, 5, 6}));
  CHECK((cut(CutSide::drop) == std::vector<TokenId>{0, 1}));
  CHECK((cut_rows(offsets, 3, CutSide::drop).dropped == Offsets{2}));
  const std::vector<std::int64_t> pairs = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6};
  CHECK((take_rows<std::int64_t>(pairs, 2, cut_rows(offsets, 1, CutSide::right)) ==
         std::vector<std::int64_t>{0, 0, 2, 2}));
}

// Every row goes where the simple search puts it.
void test_packing() {
  std::mt19937 random(0);
  for (int round = 0; round < 200; ++round) {
    Offsets offsets = {0};
    const std::size_t n_rows = random() % 40;
    for (std::size_t row = 0; row < n_rows; ++row) offsets.push_back(offsets.back() + random() % 12);
    constexpr std::int64_t kLength = 16;
    const Packing packing = pack_rows(offsets, kLength);
    std::vector<std::int64_t> used;
    for (std::int64_t length = 11; length > 0; --length) {
      for (std::size_t row = 0; row < n_rows; ++row) {
        if (offsets[row + 1] - offsets[row] != length) continue;
        std::size_t bin = 0;
        while (bin < used.size() && used[bin] + length > kLength) ++bin;
        if (bin == used.size()) used.push_back(0);
        CHECK(packing.bins[row] == static_cast<std::int64_t>(bin));
        CHECK(packing.begins[row] == used[bin]);
        used[bin] += length;
      }
    }
    CHECK(packing.n_bins == static_cast<std::int64_t>(used.size()));
    const std::vector<TokenId> ids(static_cast<std::size_t>(offsets.back()), 1);
    const PackedColumns packed = pack_columns(
        {.token_ids = ids, .message_indices = ids, .loss_mask = {}, .offsets = offsets}, packing, kLength, 0);
    CHECK(std::accumulate(packed.token_ids.begin(), packed.token_ids.end(), 0) == offsets.back());
    CHECK(packed.loss_mask.empty());
  }
}

}  // namespace

int main() {
  test_loss_rules();
  test_rows_with_and_without_a_rule();
  test_cut_rows();
  test_packing();
  std::puts("packing_test: 4 tests passed");
}
