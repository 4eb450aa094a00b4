// One renderer, many threads, calls inside calls: what the thread sanitizer runs over.
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "byte_encoder.hpp"
#include "check.hpp"
#include "turnloom/renderer.hpp"

using namespace turnloom;

int main() {
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
  std::puts("threads_test: 8 threads agree");
}
