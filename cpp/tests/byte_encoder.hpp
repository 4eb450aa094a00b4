// A vocabulary for tests: every byte is a token, with the control tokens of the formats behind them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "turnloom/tokenizer.hpp"

namespace turnloom {

class ByteEncoder final : public TextEncoder {
 public:
  void encode(std::span<const std::string_view> regions, EncodedRegions& out) const override {
    out.clear();
    for (const std::string_view region : regions) {
      for (std::size_t i = 0; i < region.size(); ++i) {
        out.ids.push_back(static_cast<unsigned char>(region[i]));
        out.begins.push_back(static_cast<std::uint32_t>(i));
        out.ends.push_back(static_cast<std::uint32_t>(i + 1));
      }
      out.counts.push_back(region.size());
    }
  }
};

inline std::shared_ptr<const Tokenizer> byte_tokenizer() {
  std::vector<AddedToken> tokens;
  for (const std::string_view text :
       {"<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>",
        "<tool_response>", "</tool_response>", "<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>",
        "<|end_header_id|>", "<|eot_id|>"}) {
    tokens.push_back(
        {.content = std::string(text), .id = static_cast<TokenId>(256 + tokens.size()), .marker = true});
  }
  return std::make_shared<const Tokenizer>(std::move(tokens), std::make_shared<ByteEncoder>());
}

}  // namespace turnloom
