// Tools and calls as the templates of Llama 3.1 to 3.3 write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "families/family.hpp"

namespace turnloom {

/// Where the tools stand; the two texts before them differ.
enum class LlamaToolsPlace { system_block, user_message };

void write_llama_tools(LlamaToolsPlace place, const std::vector<Value>& tools, PromptWriter& out);

/// The content of a tool's result, as JSON: a text gets quotes.
void write_llama_result(const Turn& turn, PromptWriter& out);

/// The built-in tools of Llama 3.1: named in the system block, called in a syntax of their own.
class LlamaBuiltinTools {
 public:
  LlamaBuiltinTools(const Tokenizer& tokenizer, std::vector<std::string> names);

  [[nodiscard]] bool contains(std::string_view name) const;
  /// `Tools: brave_search, wolfram_alpha\n\n`
  void write_names(PromptWriter& out) const;
  /// `<|python_tag|>name.call(key="value")`. Throws Error (render) if the arguments are no object of strings.
  void write_call(const ToolCall& call, const Turn& turn, PromptWriter& out) const;

 private:
  ControlToken python_tag_;
  std::vector<std::string> names_;
};

/// `{"name": "f", "parameters": {}}` or, for a built-in tool, its own syntax; several are separated by "; ".
void write_llama_calls(const Turn& turn, const LlamaBuiltinTools* builtin_tools, PromptWriter& out);

}  // namespace turnloom
