#include "families/llama_tools.hpp"

#include <algorithm>
#include <utility>

#include "turnloom/error.hpp"
#include "turnloom/json.hpp"

namespace turnloom {
namespace {

constexpr std::string_view kInSystem =
    "You have access to the following functions. To call a function, please respond with JSON for a function "
    "call.";
constexpr std::string_view kInUser =
    "Given the following functions, please respond with a JSON for a function call with its proper arguments "
    "that best answers the given prompt.\n\n";
constexpr std::string_view kCallForm =
    "Respond in the format {\"name\": function name, \"parameters\": dictionary of argument name and its "
    "value}.Do not use variables.\n\n";

using StringArguments = std::vector<std::pair<std::string_view, std::string_view>>;

StringArguments string_arguments(const ToolCall& call, const Turn& turn) {
  const auto refuse = [&]() -> Error {
    return {ErrorKind::render, "messages[" + std::to_string(turn.index) + "].tool_calls",
            "a call of the built-in tool " + quoted(call.name) + " takes an object of strings"};
  };
  const auto* const members = std::get_if<Object>(&call.arguments.data);
  if (members == nullptr) throw refuse();
  StringArguments arguments;
  for (const auto& [key, value] : *members) {
    const auto* const key_text = std::get_if<std::string_view>(&key.data);
    const auto* const text = std::get_if<std::string_view>(&value.data);
    if (key_text == nullptr || text == nullptr) throw refuse();
    arguments.emplace_back(*key_text, *text);
  }
  return arguments;
}

void write_call(const ToolCall& call, PromptWriter& out) {
  out.literal("{\"name\": \"", Field::call_markup);
  out.caller_text(call.name, Field::tool_name);
  out.literal("\", \"parameters\": ", Field::call_markup);
  out.arguments(call.arguments);
  out.literal("}", Field::call_markup);
}

}  // namespace

void write_llama_tools(LlamaToolsPlace place, const std::vector<Value>& tools, PromptWriter& out) {
  out.literal(place == LlamaToolsPlace::system_block ? kInSystem : kInUser);
  out.literal(kCallForm);
  for (const Value& tool : tools) {
    out.json(tool, Field::tool_spec, {.indent = 4, .item_separator = ","});
    out.literal("\n\n");
  }
}

void write_llama_result(const Turn& turn, PromptWriter& out) {
  if (turn.text_is_string) {
    out.json_content(Value{turn.text});
  } else if (turn.message.has_content) {
    out.json_content(turn.message.content_list);
  }
}

LlamaBuiltinTools::LlamaBuiltinTools(const Tokenizer& tokenizer, std::vector<std::string> names)
    : python_tag_(require_token(tokenizer, "<|python_tag|>")), names_(std::move(names)) {}

bool LlamaBuiltinTools::contains(std::string_view name) const {
  return std::ranges::find(names_, name) != names_.end();
}

void LlamaBuiltinTools::write_names(PromptWriter& out) const {
  out.literal("Tools: ");
  std::string_view separator;
  for (const std::string& name : names_) {
    if (name == "code_interpreter") continue;
    out.literal(separator);
    out.literal(name);
    separator = ", ";
  }
  out.literal("\n\n");
}

void LlamaBuiltinTools::write_call(const ToolCall& call, const Turn& turn, PromptWriter& out) const {
  const StringArguments arguments = string_arguments(call, turn);
  out.control(python_tag_, Field::call_markup);
  out.caller_text(call.name, Field::tool_name);
  out.literal(".call(", Field::call_markup);
  std::string_view separator;
  for (const auto& [key, value] : arguments) {
    out.literal(separator, Field::call_markup);
    out.caller_text(key, Field::tool_arguments);
    out.literal("=\"", Field::call_markup);
    out.caller_text(value, Field::tool_arguments);
    out.literal("\"", Field::call_markup);
    separator = ", ";
  }
  out.literal(")", Field::call_markup);
}

void write_llama_calls(const Turn& turn, const LlamaBuiltinTools* builtin_tools, PromptWriter& out) {
  std::string_view separator;
  for (const ToolCall& call : turn.message.tool_calls) {
    out.literal(std::exchange(separator, "; "), Field::call_markup);
    if (builtin_tools != nullptr && builtin_tools->contains(call.name)) {
      builtin_tools->write_call(call, turn, out);
    } else {
      write_call(call, out);
    }
  }
}

}  // namespace turnloom
