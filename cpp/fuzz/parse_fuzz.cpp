// Any ids, cut anywhere: no crash, streams equal to the whole, and time linear in the length.
//
//   parse_fuzz [rounds] [seed]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../tests/byte_encoder.hpp"
#include "../tests/check.hpp"
#include "turnloom/parse.hpp"

namespace turnloom {
namespace {

constexpr std::string_view kStop = "<|end|>";

// Bytes, parts of calls, and the markers.
struct Vocabulary {
  std::vector<std::string> texts;
  std::vector<AddedToken> added;

  explicit Vocabulary(bool with_markers) {
    for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
    for (const char* text : {"{\"name\": \"", "f\", \"arguments\": ", "f\", \"parameters\": {", "}}",
                             "\"}}\n", "\\u", "d83c", "dc00", "true", "1e", "\xE2\x80", "\xF0\x9F\xA6", "[[",
                             "; {", "</tool", "_call>", "<thi", "\xC2\xA0"}) {
      texts.emplace_back(text);
    }
    for (const char* text : {"<think>", "</think>", "<tool_call>", "</tool_call>", "<|python_tag|>"}) {
      if (with_markers) add(text);
      texts.emplace_back(text);
    }
    for (const std::string_view text : {std::string_view("<|start|>"), kStop}) add(text);
  }

  void add(std::string_view text) {
    added.push_back({.content = std::string(text), .id = static_cast<TokenId>(texts.size()), .marker = true});
    texts.emplace_back(text);
  }

  [[nodiscard]] TokenId stop() const { return added.back().id; }
};

CompletionParser make_parser(const Vocabulary& vocabulary, CallSyntax calls, bool has_reasoning) {
  std::string bytes;
  std::vector<std::size_t> begins{0};
  for (const std::string& text : vocabulary.texts) {
    bytes += text;
    begins.push_back(bytes.size());
  }
  const Tokenizer tokenizer(vocabulary.added, std::make_shared<ByteEncoder>());
  return {tokenizer, std::make_shared<const TokenBytes>(std::move(bytes), std::move(begins)),
          CompletionFormat{.stop_tokens = {vocabulary.stop()},
                           .header_token = "<|start|>",
                           .header = "a\n",
                           .calls = calls,
                           .has_reasoning = has_reasoning}};
}

class Fuzzer {
 public:
  explicit Fuzzer(std::uint64_t seed) : random_(seed) {}

  void round(const CompletionParser& parser, const Vocabulary& vocabulary) {
    const std::vector<TokenId> ids = random_ids(vocabulary, below(60));
    const std::vector<TokenId> prompt = random_ids(vocabulary, below(4));
    const std::vector<std::string> tools{"f"};
    const ParsedCompletion whole = parser.parse(ids, prompt, tools);

    CompletionStream stream = parser.stream(prompt, tools);
    std::vector<Delta> deltas;
    const std::span<const TokenId> all(ids);
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t n = std::min(all.size() - at, below(3) == 0 ? below(12) : 1);
      stream.feed(all.subspan(at, n), deltas);
      at += n;
    }
    stream.end(deltas);
    check_same(stream.finish(), whole);
    check_deltas(deltas, whole);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  std::vector<TokenId> random_ids(const Vocabulary& vocabulary, std::size_t n) {
    std::vector<TokenId> ids;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t choice = below(10);
      // Mostly what is longer than a byte; now and then an id past the vocabulary.
      const std::size_t id = choice == 0 ? below(vocabulary.texts.size() + 2)
                             : choice <= 3
                                 ? static_cast<std::size_t>("{}[]\",:\\ \n1e"[below(12)])
                                 : 256 + below(vocabulary.texts.size() - 256 - (below(8) != 0 ? 1 : 0));
      ids.push_back(static_cast<TokenId>(id));
    }
    return ids;
  }

  static void check_same(const ParsedCompletion& a, const ParsedCompletion& b) {
    CHECK(a.content == b.content);
    CHECK(a.reasoning == b.reasoning);
    CHECK(a.reasoning_complete == b.reasoning_complete);
    CHECK(a.calls.size() == b.calls.size());
    for (std::size_t i = 0; i < a.calls.size(); ++i) {
      CHECK(a.calls[i].status == b.calls[i].status);
      CHECK(a.calls[i].name == b.calls[i].name);
      CHECK(a.calls[i].arguments == b.calls[i].arguments);
      CHECK(a.calls[i].raw.begin == b.calls[i].raw.begin && a.calls[i].raw.end == b.calls[i].raw.end);
      CHECK(a.calls[i].first_token == b.calls[i].first_token && a.calls[i].end_token == b.calls[i].end_token);
      for (const JsonNode& node : a.calls[i].nodes) {
        if (node.kind == JsonNode::Kind::string && node.text.end > node.text.begin + 1) {
          CHECK(json_string(a.text, node).size() <= a.text.size());
        }
      }
    }
  }

  static void check_deltas(const std::vector<Delta>& deltas, const ParsedCompletion& whole) {
    std::string content;
    std::string reasoning;
    std::string space;
    std::vector<std::string> arguments(whole.calls.size());
    for (const Delta& delta : deltas) {
      if (delta.kind == Delta::Kind::content) content += delta.text;
      if (delta.kind == Delta::Kind::reasoning) reasoning += delta.text;
      if (delta.kind == Delta::Kind::reasoning_unfinished) space += delta.text;
      if (delta.kind == Delta::Kind::arguments) arguments.at(delta.call) += delta.text;
    }
    CHECK(content == whole.content);
    CHECK(space + reasoning == whole.reasoning.value_or(""));
    for (std::size_t i = 0; i < whole.calls.size(); ++i) {
      const ParsedCall& call = whole.calls[i];
      if (!call.name || !call.arguments) continue;
      const TextSpan& span = call.nodes[*call.arguments].text;
      CHECK(arguments[i] == whole.text.substr(span.begin, span.end - span.begin));
    }
  }

  std::mt19937_64 random_;
};

// Long completions of one part over and over: time per byte may not grow with the length.
void check_linear(const CompletionParser& parser, const Vocabulary& vocabulary) {
  const auto id_of = [&](std::string_view text) {
    for (std::size_t id = 0; id < vocabulary.texts.size(); ++id) {
      if (vocabulary.texts[id] == text) return static_cast<TokenId>(id);
    }
    std::abort();
  };
  const TokenId open = id_of("<tool_call>");
  const TokenId close = id_of("</tool_call>");
  const TokenId tag = id_of("<|python_tag|>");
  const TokenId quote = '"';
  const std::vector<std::vector<TokenId>> parts = {{'['},
                                                   {'{'},
                                                   {' '},
                                                   {'\\'},
                                                   {quote},
                                                   {open},
                                                   {close},
                                                   {quote, open},
                                                   {quote, close},
                                                   {open, quote},
                                                   {tag, '{'},
                                                   {open, '[', quote},
                                                   {'[', quote, open, quote, ','},
                                                   {quote, tag, quote, ','},
                                                   {'1'},
                                                   {0xE2},
                                                   {id_of("<think>"), ' '},
                                                   {id_of("<thi")},
                                                   {';', '{'},
                                                   {open, quote, '\\'}};
  for (const TokenId first : {TokenId{'['}, open, tag, id_of("<think>"), id_of("{\"name\": \"")}) {
    for (const auto& part : parts) {
      const auto seconds = [&](std::size_t n) {
        std::vector<TokenId> ids{first};
        while (ids.size() < n) ids.insert(ids.end(), part.begin(), part.end());
        const auto begin = std::chrono::steady_clock::now();
        CompletionStream stream = parser.stream({}, {});
        std::vector<Delta> deltas;
        for (const TokenId& id : ids) stream.feed({&id, 1}, deltas);
        stream.end(deltas);
        const ParsedCompletion parsed = stream.finish();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      };
      // Twenty times as much takes at most sixty times as long; the constant is for the clock.
      CHECK(seconds(20'000) < 60 * seconds(1'000) + 0.2);
    }
  }
}

}  // namespace
}  // namespace turnloom

int main(int argc, char** argv) {
  using namespace turnloom;
  const long rounds = argc > 1 ? std::atol(argv[1]) : 2'000;
  Fuzzer fuzzer(argc > 2 ? static_cast<std::uint64_t>(std::atol(argv[2])) : 1);
  for (const bool with_markers : {true, false}) {
    const Vocabulary vocabulary(with_markers);
    for (const CallSyntax calls : {CallSyntax::none, CallSyntax::tagged_json, CallSyntax::llama_json}) {
      const CompletionParser parser = make_parser(vocabulary, calls, calls != CallSyntax::llama_json);
      for (long i = 0; i < rounds; ++i) fuzzer.round(parser, vocabulary);
      check_linear(parser, vocabulary);
    }
  }
  std::puts("parse_fuzz: ok");
}
