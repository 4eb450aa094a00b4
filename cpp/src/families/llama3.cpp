// Llama 3.0: llama3/llama-3-8b-instruct.jinja.
//
//   <|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>
//   <|start_header_id|>assistant<|end_header_id|>\n\n
//
// (one line; the break here is for reading only)
#include <vector>

#include "families/llama.hpp"

namespace turnloom {
namespace {

class Llama3 final : public Family {
 public:
  explicit Llama3(const Tokenizer& tokenizer)
      : Family({.name = "llama-3", .prints_content_lists = true}), frame_(tokenizer) {}

  [[nodiscard]] ListContent list_content(const Turn&, const Conversation&) const override {
    return ListContent::repr;
  }

  std::size_t write_opening(std::span<const Turn>, const Conversation&, PromptWriter& out) const override {
    out.control(frame_.begin_of_text);
    return 0;
  }

  void write_turn(const Turn& turn, PromptWriter& out) const override {
    frame_.open_as_given(turn.message.role, out);
    out.stripped_content(turn.text);
    frame_.close(out);
  }

  void write_generation_prompt(PromptWriter& out) const override { frame_.open("assistant", out); }

  [[nodiscard]] std::vector<ControlToken> stop_tokens() const override {
    return {frame_.eot, frame_.end_of_text};
  }
  [[nodiscard]] CompletionFormat completion_format() const override {
    return LlamaFrame::completion_format(stop_token_ids());
  }

 private:
  LlamaFrame frame_;
};

}  // namespace

std::unique_ptr<const Family> make_llama3(const Tokenizer& tokenizer, OptionReader&) {
  return std::make_unique<Llama3>(tokenizer);
}

}  // namespace turnloom
