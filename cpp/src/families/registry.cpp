#include <algorithm>
#include <array>
#include <string>

#include "families/family.hpp"
#include "turnloom/error.hpp"
#include "turnloom/json.hpp"

namespace turnloom {

std::unique_ptr<const Family> make_chatml(const Tokenizer& tokenizer, OptionReader& options);
std::unique_ptr<const Family> make_llama3(const Tokenizer& tokenizer, OptionReader& options);
std::unique_ptr<const Family> make_llama31(const Tokenizer& tokenizer, OptionReader& options);
std::unique_ptr<const Family> make_llama32(const Tokenizer& tokenizer, OptionReader& options);
std::unique_ptr<const Family> make_qwen25(const Tokenizer& tokenizer, OptionReader& options);
std::unique_ptr<const Family> make_qwen3(const Tokenizer& tokenizer, OptionReader& options);

namespace {

struct Entry {
  std::string_view name;
  FamilyFactory make;
};

constexpr std::array kFamilies = {
    Entry{"chatml", make_chatml},     Entry{"llama-3", make_llama3}, Entry{"llama-3.1", make_llama31},
    Entry{"llama-3.2", make_llama32}, Entry{"qwen2.5", make_qwen25}, Entry{"qwen3", make_qwen3},
};

constexpr std::array<std::string_view, 16> kDeclaredMarkers = {
    // ChatML and Qwen
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    // Llama 3
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|python_tag|>",
};

}  // namespace

std::unique_ptr<const Family> make_family(const Tokenizer& tokenizer, const RendererConfig& config) {
  const auto entry = std::ranges::find(kFamilies, config.family, &Entry::name);
  if (entry == kFamilies.end()) {
    std::string known;
    for (const Entry& family : kFamilies) known.append(known.empty() ? "" : ", ").append(family.name);
    throw Error(ErrorKind::key, "config.name",
                "unknown family " + quoted(config.family) + ", known: " + known);
  }
  OptionReader options(config);
  auto family = entry->make(tokenizer, options);
  options.check_all_read();
  return family;
}

std::span<const std::string_view> declared_markers() noexcept { return kDeclaredMarkers; }

std::vector<TokenId> Family::stop_token_ids() const {
  std::vector<TokenId> ids;
  for (const ControlToken& token : stop_tokens()) ids.push_back(token.id);
  return ids;
}

ControlToken require_token(const Tokenizer& tokenizer, std::string_view text) {
  const auto id = tokenizer.added_token_id(text);
  if (!id) {
    throw Error(ErrorKind::value, "tokenizer",
                "has no added token " + quoted(text) + ", which this format writes");
  }
  return {std::string(text), *id};
}

const OptionValue* OptionReader::find(std::string_view name) {
  read_.insert(name);
  const auto option = config_.options.find(name);
  return option == config_.options.end() ? nullptr : &option->second;
}

template <typename T>
std::optional<T> OptionReader::read(std::string_view name, std::string_view expected) {
  const OptionValue* value = find(name);
  if (value == nullptr || std::holds_alternative<std::monostate>(*value)) return std::nullopt;
  if (const T* held = std::get_if<T>(value)) return *held;
  throw Error(ErrorKind::type, "config." + std::string(name), "expected " + std::string(expected));
}

bool OptionReader::flag(std::string_view name, bool fallback) {
  return read<bool>(name, "a bool").value_or(fallback);
}

std::optional<std::string> OptionReader::text(std::string_view name) {
  return read<std::string>(name, "a str");
}

std::optional<std::vector<std::string>> OptionReader::texts(std::string_view name) {
  return read<std::vector<std::string>>(name, "a list of str");
}

void OptionReader::check_all_read() const {
  for (const auto& [name, value] : config_.options) {
    if (read_.contains(name)) continue;
    throw Error(ErrorKind::value, "config." + name, "the family " + config_.family + " has no such option");
  }
}

}  // namespace turnloom
