// ChatML and the five formats that LangChain's prompts go by, as text.
//
//   chatml, im_start  <|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n
//   inst              <s>[INST] s q [/INST]a</s> [INST] q [/INST]
//   llama_2           <s>[INST] <<SYS>>\ns\n<</SYS>>\n\nq [/INST] a </s>
//   llama_3           <|begin_of_text|>\n<|start_header_id|>user<|end_header_id|>\n\nq<|eot_id|>\n
//   zephyr            <|user|>\nq</s>\n<|assistant|>\n
//
// All but the first take a system message in front, and then a user and an assistant in turn.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "engine.hpp"
#include "families/family.hpp"
#include "turnloom/error.hpp"
#include "turnloom/text_format.hpp"

namespace turnloom {
namespace {

/// What stands around the content of a message.
struct Frame {
  std::string_view before;
  std::string_view after;
};

struct TextFormat {
  std::string_view name;
  std::string_view opening;
  Frame system;
  Frame user;
  Frame assistant;
  std::string_view after_system;  ///< before the content of a user behind a system message
  std::string_view generation_prompt;
  bool takes_any_role = false;  ///< in any order, and always with a generation prompt
};

constexpr Frame im_start(std::string_view before) { return {before, "<|im_end|>\n"}; }
constexpr Frame header(std::string_view before) { return {before, "<|eot_id|>\n"}; }
constexpr Frame tag(std::string_view before) { return {before, "</s>\n"}; }

constexpr TextFormat tagged(std::string_view name, std::string_view opening, Frame system, Frame user,
                            Frame assistant) {
  return {name, opening, system, user, assistant, user.before, assistant.before};
}

constexpr TextFormat kImStart = tagged("im_start", "", im_start("<|im_start|>system\n"),
                                       im_start("<|im_start|>user\n"), im_start("<|im_start|>assistant\n"));

constexpr TextFormat make_chatml() {
  TextFormat format = kImStart;
  format.name = "chatml";
  format.takes_any_role = true;
  return format;
}

constexpr std::array kFormats = {
    make_chatml(),
    kImStart,
    TextFormat{.name = "inst",
               .opening = "<s>",
               .system = {"[INST] ", " "},
               .user = {"[INST] ", " [/INST]"},
               .assistant = {"", "</s> "},
               .after_system = "",
               .generation_prompt = ""},
    TextFormat{.name = "llama_2",
               .opening = "",
               .system = {"<s>[INST] <<SYS>>\n", "\n<</SYS>>\n\n"},
               .user = {"<s>[INST] ", " [/INST] "},
               .assistant = {"", " </s>"},
               .after_system = "",
               .generation_prompt = ""},
    tagged("llama_3", "<|begin_of_text|>\n", header("<|start_header_id|>system<|end_header_id|>\n\n"),
           header("<|start_header_id|>user<|end_header_id|>\n\n"),
           header("<|start_header_id|>assistant<|end_header_id|>\n\n")),
    tagged("zephyr", "", tag("<|system|>\n"), tag("<|user|>\n"), tag("<|assistant|>\n")),
};

const TextFormat& find_format(std::string_view name) {
  const auto format = std::ranges::find(kFormats, name, &TextFormat::name);
  if (format != kFormats.end()) return *format;
  std::string known;
  for (const TextFormat& each : kFormats) known.append(known.empty() ? "" : ", ").append(each.name);
  throw Error(ErrorKind::key, "format", "unknown format " + quoted(name) + ", known: " + known);
}

class TextFormatFamily final : public Family {
 public:
  explicit TextFormatFamily(const TextFormat& format)
      : Family({.name = format.name, .can_lose = false}), format_(format) {}

  [[nodiscard]] bool renders_role(std::string_view role) const override {
    return format_.takes_any_role || role == "system" || role == "user" || role == "assistant";
  }

  std::size_t write_opening(std::span<const Turn> turns, const Conversation&,
                            PromptWriter& out) const override {
    if (!format_.takes_any_role) check_order(turns);
    out.literal(format_.opening);
    return 0;
  }

  void write_turn(const Turn& turn, PromptWriter& out) const override {
    const std::string_view role = turn.message.role;
    if (format_.takes_any_role) {
      out.literal("<|im_start|>");
      out.caller_text(role, Field::scaffold);
      out.literal("\n");
    } else if (role == "user" && turn.previous_role == "system") {
      out.literal(format_.after_system);
    } else {
      out.literal(frame_of(role).before);
    }
    out.content(turn.text);
    out.literal(frame_of(role).after);
  }

  void write_generation_prompt(PromptWriter& out) const override { out.literal(format_.generation_prompt); }

  // There is no vocabulary.
  [[nodiscard]] std::vector<ControlToken> stop_tokens() const override { return {}; }
  [[nodiscard]] CompletionFormat completion_format() const override { return {}; }

 private:
  [[nodiscard]] const Frame& frame_of(std::string_view role) const {
    if (role == "system") return format_.system;
    return role == "assistant" ? format_.assistant : format_.user;
  }

  void check_order(std::span<const Turn> turns) const {
    const std::size_t first = turns.front().message.role == "system" ? 1 : 0;
    if (first == turns.size()) {
      throw Error(ErrorKind::render, "messages", std::string(format_.name) + " needs a user's message");
    }
    for (std::size_t i = first; i < turns.size(); ++i) {
      const std::string_view expected = (i - first) % 2 == 0 ? "user" : "assistant";
      if (turns[i].message.role == expected) continue;
      throw Error(ErrorKind::render, "messages[" + std::to_string(i) + "].role",
                  std::string(format_.name) + " takes " + quoted(expected) + " there, got " +
                      quoted(turns[i].message.role));
    }
  }

  const TextFormat& format_;
};

}  // namespace

std::string apply_text_format(std::string_view format, const Conversation& conversation,
                              std::optional<bool> add_generation_prompt) {
  const TextFormat& found = find_format(format);
  const auto& messages = conversation.messages;
  if (messages.empty()) {
    if (!found.takes_any_role) {
      throw Error(ErrorKind::render, "messages", std::string(format) + " needs a user's message");
    }
    return std::string(add_generation_prompt.value_or(true) ? found.generation_prompt : "");
  }
  const bool asks = found.takes_any_role || messages.back().role == "user";
  return render_prompt(TextFormatFamily(found), OnLoss::raise, conversation,
                       {.add_generation_prompt = add_generation_prompt.value_or(asks)})
      .text;
}

}  // namespace turnloom
