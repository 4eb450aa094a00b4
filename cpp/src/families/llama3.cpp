// Llama 3.0: llama3/llama-3-8b-instruct.jinja.
//
//   <|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>
//   <|start_header_id|>assistant<|end_header_id|>\n\n
//
// (one line; the break here is for reading only)
#include <string_view>
#include <vector>

#include "families/family.hpp"
#include "text.hpp"

namespace turnloom {
namespace {

class Llama3 final : public Family {
 public:
  Llama3(const Tokenizer& tokenizer, OptionReader&)
      : Family({.name = "llama-3", .list_content = ListContent::repr, .strips_content = true}),
        begin_of_text_(require_token(tokenizer, "<|begin_of_text|>")),
        end_of_text_(require_token(tokenizer, "<|end_of_text|>")),
        start_header_(require_token(tokenizer, "<|start_header_id|>")),
        end_header_(require_token(tokenizer, "<|end_header_id|>")),
        eot_(require_token(tokenizer, "<|eot_id|>")) {}

  std::size_t write_opening(std::span<const Turn>, const Conversation&, PromptWriter& out) const override {
    out.control(begin_of_text_);
    return 0;
  }

  void write_turn(const Turn& turn, PromptWriter& out) const override {
    write_header(turn.message.role, out);
    out.content(strip(turn.text));
    out.control(eot_, Field::turn_close);
  }

  void write_generation_prompt(PromptWriter& out) const override { write_header("assistant", out); }

  [[nodiscard]] std::vector<TokenId> stop_token_ids() const override { return {eot_.id, end_of_text_.id}; }

 private:
  void write_header(std::string_view role, PromptWriter& out) const {
    out.control(start_header_);
    out.caller_text(role, Field::scaffold);
    out.control(end_header_);
    out.literal("\n\n");
  }

  ControlToken begin_of_text_;
  ControlToken end_of_text_;
  ControlToken start_header_;
  ControlToken end_header_;
  ControlToken eot_;
};

}  // namespace

std::unique_ptr<const Family> make_llama3(const Tokenizer& tokenizer, OptionReader& options) {
  return std::make_unique<Llama3>(tokenizer, options);
}

}  // namespace turnloom
