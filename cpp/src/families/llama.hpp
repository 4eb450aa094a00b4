// The turn frame of the Llama 3 families.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "families/family.hpp"

namespace turnloom {

/// `<|start_header_id|>role<|end_header_id|>\n\n` ... `<|eot_id|>`
struct LlamaFrame {
  explicit LlamaFrame(const Tokenizer& tokenizer)
      : begin_of_text(require_token(tokenizer, "<|begin_of_text|>")),
        end_of_text(require_token(tokenizer, "<|end_of_text|>")),
        start_header(require_token(tokenizer, "<|start_header_id|>")),
        end_header(require_token(tokenizer, "<|end_header_id|>")),
        eot(require_token(tokenizer, "<|eot_id|>")) {}

  /// Opens a turn of a role that the template itself names.
  void open(std::string_view role, PromptWriter& out) const {
    out.control(start_header);
    out.literal(role);
    end_header_line(out);
  }
  /// Opens a turn of whatever role the caller wrote.
  void open_as_given(std::string_view role, PromptWriter& out) const {
    out.control(start_header);
    out.caller_text(role, Field::scaffold);
    end_header_line(out);
  }
  void close(PromptWriter& out) const { out.control(eot, Field::turn_close); }

  /// Completions behind the header of an assistant's turn.
  [[nodiscard]] static CompletionFormat completion_format(std::vector<TokenId> stop_tokens,
                                                          CallSyntax calls = CallSyntax::none) {
    return {.stop_tokens = std::move(stop_tokens),
            .header_token = "<|start_header_id|>",
            .header = "assistant<|end_header_id|>",
            .calls = calls};
  }

  ControlToken begin_of_text;
  ControlToken end_of_text;
  ControlToken start_header;
  ControlToken end_header;
  ControlToken eot;

 private:
  void end_header_line(PromptWriter& out) const {
    out.control(end_header);
    out.literal("\n\n");
  }
};

}  // namespace turnloom
