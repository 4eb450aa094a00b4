// ChatML: chatml/chatml-generic.jinja and, with `bos` and `default_system`, the templates of Qwen1.5, Qwen2,
// Nous-Hermes-2 and Hermes 3.
//
//   <|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n
//
// Departure: a content list is its texts joined, where the templates fail with a TypeError.
#include "families/chatml.hpp"

#include <optional>
#include <string>
#include <vector>

namespace turnloom {
namespace {

class ChatML final : public Family {
 public:
  ChatML(const Tokenizer& tokenizer, OptionReader& options)
      : Family({.name = "chatml", .after_close = ChatMLFrame::kAfterClose}),
        frame_(tokenizer),
        default_system_(options.text("default_system")) {
    if (const auto bos = options.text("bos")) bos_ = require_token(tokenizer, *bos);
  }

  std::size_t write_opening(std::span<const Turn> turns, const Conversation&,
                            PromptWriter& out) const override {
    if (bos_) out.control(*bos_);
    if (default_system_ && turns.front().message.role != "system") {
      frame_.open("system", out);
      out.literal(*default_system_);
      frame_.close(out);
    }
    return 0;
  }

  void write_turn(const Turn& turn, PromptWriter& out) const override {
    frame_.open_as_given(turn.message.role, out);
    out.content(turn.text);
    frame_.close(out);
  }

  void write_generation_prompt(PromptWriter& out) const override { frame_.open("assistant", out); }

  [[nodiscard]] std::vector<ControlToken> stop_tokens() const override { return {frame_.im_end}; }
  [[nodiscard]] CompletionFormat completion_format() const override {
    return ChatMLFrame::completion_format(stop_token_ids());
  }

 private:
  ChatMLFrame frame_;
  std::optional<std::string> default_system_;
  std::optional<ControlToken> bos_;
};

}  // namespace

std::unique_ptr<const Family> make_chatml(const Tokenizer& tokenizer, OptionReader& options) {
  return std::make_unique<ChatML>(tokenizer, options);
}

}  // namespace turnloom
