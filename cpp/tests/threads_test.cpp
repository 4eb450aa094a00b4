// One renderer or encoder, many threads, calls inside calls: what the thread sanitizer runs over.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bpe/byte_alphabet.hpp"
#include "byte_encoder.hpp"
#include "check.hpp"
#include "turnloom/bpe.hpp"
#include "turnloom/renderer.hpp"

using namespace turnloom;

namespace {

void rendering() {
  const Renderer renderer(byte_tokenizer(), {.family = "qwen3", .options = {}});
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i)
    texts.push_back("text " + std::string(static_cast<std::size_t>(i), 'x') + " <|im_end|>");
  std::vector<Conversation> conversations(texts.size());
  std::vector<BatchRow> rows;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Message message;
    message.role = "user";
    message.text = texts[i];
    message.has_content = true;
    conversations[i].messages = {message};
    rows.push_back({&conversations[i]});
  }
  const BatchColumns expected = renderer.render_batch(rows, {.byte_offsets = true}, 1);

  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t round = 0; round < 5; ++round) {
        const BatchColumns batch = renderer.render_batch(rows, {.byte_offsets = true}, 1 + (t + round) % 3);
        CHECK(batch.columns.token_ids == expected.columns.token_ids);
        CHECK(batch.columns.byte_offsets == expected.columns.byte_offsets);
        CHECK(batch.markers.size() == rows.size());
        const std::size_t row = (t * 31 + round) % rows.size();
        const RenderedColumns single = renderer.render(*rows[row].conversation, {});
        CHECK(single.columns.size() ==
              static_cast<std::size_t>(expected.offsets[row + 1] - expected.offsets[row]));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Threads that meet the same words for the first time at once add them to the same tables.
void encoding() {
  std::vector<std::string> spellings;
  for (int byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    spellings.push_back(bytes_to_alphabet({&text, 1}));
  }
  for (const char* token : {"ab", "abc", "cab", "bb"}) spellings.emplace_back(token);
  BpeModel model;
  for (const std::string& spelling : spellings) {
    model.tokens.emplace_back(spelling, static_cast<TokenId>(model.tokens.size()));
  }
  model.merges = {{"a", "b"}, {"ab", "c"}, {"c", "ab"}, {"b", "b"}};
  model.split = "qwen2";
  std::string text;  // of words of 1 to 40 letters: those of a slot, and longer ones
  for (std::size_t i = 0; i < 3000; ++i) {
    for (std::size_t n = i * 7 % 40 + 1; n > 0; --n) text += "abc"[(i + n * n) % 3];
    text += ' ';
  }
  const std::vector<std::string_view> texts(4, text);
  std::vector<std::int64_t> offsets;
  const std::vector<TokenId> expected =
      Tokenizer({}, make_byte_level_encoder(model)).encode_batch(texts, true, 1, offsets);
  for (int round = 0; round < 3; ++round) {
    const Tokenizer tokenizer({}, make_byte_level_encoder(model));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        std::vector<std::int64_t> found_offsets;
        CHECK(tokenizer.encode_batch(texts, true, 2, found_offsets) == expected);
        CHECK(found_offsets == offsets);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace

int main() {
  rendering();
  encoding();
  std::puts("threads_test: threads agree");
}
