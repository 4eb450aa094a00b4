// The core by itself, without an interpreter: what the sanitizers run over.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "byte_encoder.hpp"
#include "check.hpp"
#include "turnloom/error.hpp"
#include "turnloom/json.hpp"
#include "turnloom/renderer.hpp"

using namespace turnloom;

namespace {

Message text_message(std::string_view role, std::string_view text) {
  Message message;
  message.role = role;
  message.text = text;
  message.has_content = true;
  return message;
}

Conversation chat(std::vector<Message> messages) {
  Conversation conversation;
  conversation.messages = std::move(messages);
  return conversation;
}

Renderer renderer(std::string family, MarkerPolicy policy = MarkerPolicy::trusted,
                  OnLoss on_loss = OnLoss::raise) {
  return {byte_tokenizer(),
          {.family = std::move(family), .options = {}, .marker_policy = policy, .on_loss = on_loss}};
}

template <typename Call>
std::optional<ErrorKind> error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  return std::nullopt;
}

void check_columns_tile(const Prompt& prompt, const RenderedColumns& rendered) {
  const TokenColumns& columns = rendered.columns;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    CHECK(columns.byte_offsets[2 * i] == at);
    at = columns.byte_offsets[2 * i + 1];
  }
  CHECK(at == static_cast<std::int64_t>(prompt.text.size()));
}

void test_qwen3_text_and_masks() {
  const Renderer qwen3 = renderer("qwen3");
  const Conversation conversation = chat({text_message("user", "Hi"), text_message("assistant", "Yo")});
  const Prompt prompt = qwen3.render_prompt(conversation, {});
  CHECK(prompt.text ==
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\nYo<|im_end|>\n");
  const RenderedColumns rendered = qwen3.render(conversation, {.byte_offsets = true});
  check_columns_tile(prompt, rendered);
  std::string sampled;
  for (std::size_t i = 0; i < rendered.columns.size(); ++i) {
    if (rendered.columns.sampled_mask[i] == 0) continue;
    const auto begin = static_cast<std::size_t>(rendered.columns.byte_offsets[2 * i]);
    const auto end = static_cast<std::size_t>(rendered.columns.byte_offsets[2 * i + 1]);
    sampled += prompt.text.substr(begin, end - begin);
  }
  CHECK(sampled == "<think>\n\n</think>\n\nYo<|im_end|>");
}

void test_tool_calls() {
  const Renderer qwen3 = renderer("qwen3");
  Message call = text_message("assistant", "");
  call.tool_calls.push_back(
      {.name = "f", .arguments = Value{Object{{Value{std::string_view("a")}, Value{true}}}}, .id = {}});
  const Conversation conversation =
      chat({text_message("user", "q"), call, text_message("tool", "1"), text_message("tool", "2")});
  CHECK(qwen3.render_prompt(conversation, {}).text ==
        "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\", \"arguments\": "
        "{\"a\": "
        "true}}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n1\n</"
        "tool_response>\n<tool_response>\n2\n"
        "</tool_response><|im_end|>\n");
}

void test_marker_policies() {
  const Conversation conversation = chat({text_message("user", "a<|im_end|>b")});
  const auto count_ends = [&](MarkerPolicy policy) {
    const RenderedColumns rendered = renderer("chatml", policy).render(conversation, {});
    CHECK(rendered.markers.size() == 1);
    CHECK(rendered.markers[0].message == 0 && rendered.markers[0].field == Field::content);
    std::size_t n = 0;
    for (const TokenId id : rendered.columns.token_ids) n += id == 258 ? 1 : 0;
    return n;
  };
  CHECK(count_ends(MarkerPolicy::trusted) == 1);
  CHECK(count_ends(MarkerPolicy::none) == 1);
  CHECK(count_ends(MarkerPolicy::all) == 2);
  CHECK(error_of([&] { (void)renderer("chatml", MarkerPolicy::reject).render(conversation, {}); }) ==
        ErrorKind::render);
}

void test_losses_and_errors() {
  Conversation conversation = chat({text_message("user", "q")});
  conversation.tools.push_back(Value{Object{}});
  CHECK(error_of([&] { (void)renderer("llama-3").render_prompt(conversation, {}); }) == ErrorKind::render);
  const Renderer lossy = renderer("llama-3", MarkerPolicy::trusted, OnLoss::template_text);
  CHECK(lossy.render_prompt(conversation, {}).text ==
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nq<|eot_id|>");
  CHECK(error_of([&] { (void)lossy.render_prompt(chat({}), {}); }) == ErrorKind::value);
  CHECK(error_of([&] { (void)renderer("llama-9"); }) == ErrorKind::key);
  CHECK(error_of([&] {
          (void)Renderer(byte_tokenizer(), {.family = "qwen3", .options = {{"bos", std::string("x")}}});
        }) == ErrorKind::value);
}

void test_batch_keeps_order_and_errors() {
  const Renderer llama = renderer("llama-3");
  const Conversation good = chat({text_message("user", "hello")});
  const Conversation empty = chat({});
  std::vector<BatchRow> rows(200, {&good});
  rows[3] = {&empty};
  rows[150] = {nullptr};
  const BatchColumns one = llama.render_batch(rows, {}, 1);
  const BatchColumns many = llama.render_batch(rows, {}, 4);
  CHECK(one.offsets.size() == rows.size() + 1);
  CHECK(one.offsets == many.offsets);
  CHECK(one.columns.token_ids == many.columns.token_ids);
  CHECK(one.offsets[3] == one.offsets[4] && one.offsets[150] == one.offsets[151]);
  CHECK(many.errors.size() == 1 && many.errors[0].first == 3);
}

void test_widening_tokens() {
  std::vector<AddedToken> tokens = {
      {.content = "<l>", .id = 300, .marker = true, .lstrip = true},
      {.content = "<r>", .id = 301, .marker = true, .rstrip = true},
      {.content = "word", .id = 302, .marker = true, .single_word = true},
      {.content = "norm", .id = 303, .marker = true, .normalized = true},
  };
  const Tokenizer tokenizer(std::move(tokens), std::make_shared<ByteEncoder>());
  CHECK((tokenizer.encode("a <l>", true) == std::vector<TokenId>{'a', 300}));
  CHECK((tokenizer.encode("<r>  b", true) == std::vector<TokenId>{301, 'b'}));
  CHECK((tokenizer.encode("<r> <l>", true) == std::vector<TokenId>{301, 300}));
  CHECK((tokenizer.encode("word", true) == std::vector<TokenId>{302}));
  CHECK(tokenizer.encode("words", true).size() == 5);
  CHECK((tokenizer.encode("\xC3\xA9word", true).size() == 6));
  CHECK((tokenizer.encode("norm<r>", true) == std::vector<TokenId>{303, 301}));
  CHECK(tokenizer.encode("norm<r>", false).size() == 7);
  CHECK(tokenizer.encode("", true).empty());
}

}  // namespace

int main() {
  test_qwen3_text_and_masks();
  test_tool_calls();
  test_marker_policies();
  test_losses_and_errors();
  test_batch_keeps_order_and_errors();
  test_widening_tokens();
  std::puts("core_test: 6 tests passed");
}
