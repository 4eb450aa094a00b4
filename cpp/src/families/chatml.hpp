// The turn frame that ChatML and the Qwen families share.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "families/family.hpp"

namespace turnloom {

/// `<|im_start|>role\n` ... `<|im_end|>\n`
struct ChatMLFrame {
  static constexpr std::string_view kAfterClose = "\n";

  explicit ChatMLFrame(const Tokenizer& tokenizer)
      : im_start(require_token(tokenizer, "<|im_start|>")), im_end(require_token(tokenizer, "<|im_end|>")) {}

  /// Opens a turn of a role that the template itself names.
  void open(std::string_view role, PromptWriter& out) const {
    out.control(im_start);
    out.literal(role);
    out.literal("\n");
  }
  /// Opens a turn of whatever role the caller wrote.
  void open_as_given(std::string_view role, PromptWriter& out) const {
    out.control(im_start);
    out.caller_text(role, Field::scaffold);
    out.literal("\n");
  }
  void close(PromptWriter& out) const {
    out.control(im_end, Field::turn_close);
    out.literal(kAfterClose);
  }

  /// Completions behind the header of an assistant's turn.
  [[nodiscard]] static CompletionFormat completion_format(std::vector<TokenId> stop_tokens,
                                                          CallSyntax calls = CallSyntax::none,
                                                          bool has_reasoning = false) {
    return {.stop_tokens = std::move(stop_tokens),
            .header_token = "<|im_start|>",
            .header = "assistant\n",
            .calls = calls,
            .has_reasoning = has_reasoning};
  }

  ControlToken im_start;
  ControlToken im_end;
};

}  // namespace turnloom
