#include <algorithm>
#include <array>
#include <string>

#include "families/family.hpp"
#include "turnloom/error.hpp"
#include "turnloom/json.hpp"

namespace turnloom {

std::unique_ptr<const Family> make_chatml(const Tokenizer& tokenizer, OptionReader& options);
std::unique_ptr<const Family> make_llama3(const Tokenizer& tokenizer, OptionReader& options);
std::unique_ptr<const Family> make_qwen3(const Tokenizer& tokenizer, OptionReader& options);

namespace {

struct Entry {
  std::string_view name;
  FamilyFactory make;
};

constexpr std::array kFamilies = {
    Entry{"chatml", make_chatml},
    Entry{"llama-3", make_llama3},
    Entry{"qwen3", make_qwen3},
};

constexpr std::array<std::string_view, 6> kDeclaredMarkers = {
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>",
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

bool OptionReader::flag(std::string_view name, bool fallback) {
  const OptionValue* value = find(name);
  if (value == nullptr || std::holds_alternative<std::monostate>(*value)) return fallback;
  if (const bool* flag = std::get_if<bool>(value)) return *flag;
  throw Error(ErrorKind::type, "config." + std::string(name), "expected a bool");
}

std::optional<std::string> OptionReader::text(std::string_view name) {
  const OptionValue* value = find(name);
  if (value == nullptr || std::holds_alternative<std::monostate>(*value)) return std::nullopt;
  if (const std::string* text = std::get_if<std::string>(value)) return *text;
  throw Error(ErrorKind::type, "config." + std::string(name), "expected a str");
}

void OptionReader::check_all_read() const {
  for (const auto& [name, value] : config_.options) {
    if (read_.contains(name)) continue;
    throw Error(ErrorKind::value, "config." + name, "the family " + config_.family + " has no such option");
  }
}

}  // namespace turnloom
