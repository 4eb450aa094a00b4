// Parsing without an interpreter: one completion of each syntax, whole and in parts.
#include "turnloom/parse.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "byte_encoder.hpp"
#include "check.hpp"
#include "turnloom/error.hpp"

using namespace turnloom;

namespace {

// The bytes, and behind them the added tokens of `byte_tokenizer`.
CompletionParser make_parser(const CompletionFormat& format) {
  const auto tokenizer = byte_tokenizer();
  std::string bytes;
  std::vector<std::size_t> begins{0};
  for (int byte = 0; byte < 256; ++byte) {
    bytes += static_cast<char>(byte);
    begins.push_back(bytes.size());
  }
  for (const AddedToken& token : tokenizer->added_tokens()) {
    bytes += token.content;
    begins.push_back(bytes.size());
  }
  return {*tokenizer, std::make_shared<const TokenBytes>(std::move(bytes), std::move(begins)), format};
}

CompletionFormat chatml(CallSyntax calls) {
  return {.stop_tokens = {*byte_tokenizer()->added_token_id("<|im_end|>")},
          .header_token = "<|im_start|>",
          .header = "assistant\n",
          .calls = calls,
          .has_reasoning = true};
}

std::vector<TokenId> ids_of(std::string_view text) { return byte_tokenizer()->encode(text, true); }

ParsedCompletion parse(CallSyntax calls, std::string_view text) {
  return make_parser(chatml(calls)).parse(ids_of(text), {}, {});
}

void test_tagged_calls() {
  const ParsedCompletion parsed = parse(CallSyntax::tagged_json,
                                        "<think>\nr\n</think>\n\nHi <tool_call>\n{\"name\": \"f\", "
                                        "\"arguments\": {\"a\": \"\\ud83c\\udf78\"}}\n"
                                        "</tool_call><tool_call>{</tool_call> so<|im_end|>no");
  CHECK(parsed.content == "Hi  so");
  CHECK(parsed.reasoning == "r");
  CHECK(parsed.calls.size() == 2);
  const ParsedCall& call = parsed.calls.front();
  CHECK(call.status == CallStatus::ok && call.name == "f");
  CHECK(json_string(parsed.text, call.nodes[*call.arguments + 2]) == "\xF0\x9F\x8D\xB8");
  CHECK(parsed.calls.back().status == CallStatus::invalid_json);
}

void test_llama_calls() {
  const ParsedCompletion parsed =
      parse(CallSyntax::llama_json,
            "[{\"name\": \"f\", \"parameters\": {}}, {\"name\": \"g\", \"parameters\": {}}]");
  CHECK(parsed.content.empty());
  CHECK(parsed.calls.size() == 2 && parsed.calls.back().name == "g");
  CHECK(parse(CallSyntax::llama_json, "{\"age\": 1}").content == "{\"age\": 1}");
}

void test_prompt() {
  const CompletionParser parser = make_parser(chatml(CallSyntax::none));
  const auto parsed = parser.parse(ids_of("r</think>c"), ids_of("<|im_start|>assistant\n<think>\n"), {});
  CHECK(parsed.reasoning == "r" && parsed.content == "c");
}

void test_stream_and_batch() {
  const CompletionParser parser = make_parser(chatml(CallSyntax::none));
  const std::vector<TokenId> ids = {'a', 0xC3, 0xA9, 0xF0, 0x9F, 1'000'000};
  CompletionStream stream = parser.stream({}, {});
  std::string text;
  std::vector<Delta> deltas;
  for (const TokenId& id : ids) stream.feed({&id, 1}, deltas);
  stream.end(deltas);
  for (const Delta& delta : deltas) text += delta.text;
  CHECK(text == "a\xC3\xA9\xEF\xBF\xBD");
  CHECK(stream.finish().content == text);
  const std::vector<std::span<const TokenId>> rows(100, ids);
  for (const ParsedCompletion& row : parser.parse_batch(rows, {}, {}, 3)) CHECK(row.content == text);
}

void test_vocabulary_without_header() {
  CompletionFormat format = chatml(CallSyntax::none);
  format.header_token = "<|none|>";
  try {
    make_parser(format);
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::value);
  }
}

}  // namespace

int main() {
  test_tagged_calls();
  test_llama_calls();
  test_prompt();
  test_stream_and_batch();
  test_vocabulary_without_header();
}
