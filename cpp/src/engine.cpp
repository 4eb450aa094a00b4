#include "engine.hpp"

#include <deque>
#include <string>
#include <vector>

#include "families/think_block.hpp"
#include "text.hpp"
#include "turnloom/error.hpp"
#include "turnloom/json.hpp"

namespace turnloom {
namespace {

std::string part_reason(const Family& family, const ForeignPart& part) {
  return std::string(family.traits().name) + " does not render a part of type " + quoted(part.type);
}

class Walk {
 public:
  /// `goes_on`: the messages follow a completion, which is an assistant's message.
  Walk(const Family& family, OnLoss on_loss, const Conversation& conversation, bool goes_on)
      : family_(family), on_loss_(on_loss), conversation_(conversation), goes_on_(goes_on) {
    turns_.reserve(conversation.messages.size());
    for (std::size_t i = 0; i < conversation.messages.size(); ++i) turns_.push_back(make_turn(i));
    mark_last_query();
    if (on_loss == OnLoss::template_text && family.traits().quotes_string_arguments)
      out_.quote_string_arguments();
    if (on_loss == OnLoss::raise) check_losses();
  }

  Prompt run(const RenderOptions& options) {
    write_turns(family_.write_opening(turns_, conversation_, out_));
    if (options.continue_final_message) cut_after_final_content();
    if (options.add_generation_prompt) family_.write_generation_prompt(out_);
    return std::move(out_.prompt());
  }

  [[nodiscard]] std::optional<std::size_t> last_query() const {
    for (std::size_t i = turns_.size(); i > 0; --i) {
      if (family_.is_query(turns_[i - 1])) return i - 1;
    }
    return std::nullopt;
  }

  Prompt run_on(const CompletionEnd& end) {
    if (end.in_reasoning) out_.literal(kThinkClose, Field::reasoning_markup);
    if (end.in_turn) out_.control(family_.stop_tokens().front(), Field::turn_close);
    out_.literal(family_.traits().after_close);
    write_turns(0);
    family_.write_generation_prompt(out_);
    out_.prompt().messages_name = messages_name();
    return std::move(out_.prompt());
  }

 private:
  [[nodiscard]] std::string_view messages_name() const noexcept {
    return goes_on_ ? "new_messages" : "messages";
  }
  [[nodiscard]] std::string place_of(std::size_t index, std::string_view key) const {
    return std::string(messages_name()) + "[" + std::to_string(index) + "]." + std::string(key);
  }
  [[nodiscard]] std::string part_place(std::size_t index, const ForeignPart& part) const {
    return place_of(index, "content[" + std::to_string(part.index) + "]");
  }

  void write_turns(std::size_t first) {
    for (std::size_t i = first; i < turns_.size(); ++i) {
      if (!family_.renders_role(turns_[i].message.role)) continue;
      out_.attribute_to(turns_[i]);
      family_.write_turn(turns_[i], out_);
    }
    out_.attribute_to_none();
  }

  Turn make_turn(std::size_t index) {
    const auto& messages = conversation_.messages;
    const Message& message = messages[index];
    Turn turn{.message = message,
              .index = index,
              .text = message.text,
              .text_is_string = message.has_content,
              .has_tool_calls =
                  on_loss_ == OnLoss::template_text ? message.has_tool_calls : !message.tool_calls.empty(),
              .is_first = index == 0 && !goes_on_,
              .is_last = index + 1 == messages.size(),
              .previous_role = index > 0  ? messages[index - 1].role
                               : goes_on_ ? "assistant"
                                          : "",
              .next_role = index + 1 == messages.size() ? std::string_view{} : messages[index + 1].role};
    const bool shows_list = message.content_is_list && family_.renders_role(message.role);
    if (on_loss_ == OnLoss::template_text && shows_list) show_list(turn);
    return turn;
  }

  // What the template makes of a content list.
  void show_list(Turn& turn) {
    const ListContent shown = family_.list_content(turn, conversation_);
    turn.text_is_string = shown == ListContent::join;
    switch (shown) {
      case ListContent::join:
        if (const auto& part = turn.message.foreign_part) {
          throw Error(ErrorKind::render, part_place(turn.index, *part), part_reason(family_, *part));
        }
        break;
      case ListContent::drop:
        turn.text = {};
        break;
      case ListContent::repr:
        write_python_repr(turn.message.content_list, reprs_.emplace_back());
        turn.text = reprs_.back();
        break;
    }
  }

  [[noreturn]] void raise_loss(const std::string& place, const std::string& reason) const {
    throw Error(ErrorKind::render, place,
                reason + (family_.traits().can_lose ? " (on_loss=\"template\" accepts that)" : ""));
  }

  void check_losses() const {
    const std::string name(family_.traits().name);
    if (!family_.traits().tools && !conversation_.tools.empty())
      raise_loss("tools", name + " does not render tools");
    for (const Turn& turn : turns_) {
      const Message& message = turn.message;
      const std::string_view role = message.role;
      if (!family_.renders_role(role)) {
        raise_loss(place_of(turn.index, "role"), name + " does not render the role " + quoted(role));
      }
      if (const auto& part = message.foreign_part) {
        raise_loss(part_place(turn.index, *part), part_reason(family_, *part));
      }
      if (const auto loss = family_.find_loss(turn, conversation_)) {
        raise_loss(place_of(turn.index, loss->key), name + " " + std::string(loss->reason));
      }
      if (message.reasoning && !message.reasoning->empty() && !family_.renders_reasoning(role)) {
        raise_loss(place_of(turn.index, message.reasoning_key),
                   name + " does not render reasoning of the role " + quoted(role));
      }
      if (!message.tool_calls.empty() && !family_.renders_calls(role)) {
        raise_loss(place_of(turn.index, "tool_calls"),
                   name + " does not render tool calls of the role " + quoted(role));
      }
    }
  }

  void mark_last_query() {
    const auto query = last_query();
    if (!query) return;
    for (std::size_t i = *query + 1; i < turns_.size(); ++i) turns_[i].after_last_query = true;
  }

  // As transformers does: what stands after the body of the final message goes, and where the format strips
  // white space around a body, what white space then ends the text goes too.
  void cut_after_final_content() {
    const std::size_t last = turns_.size() - 1;
    const PromptWriter::Body& body = out_.last_body();
    if (!turns_[last].text_is_string || body.message != static_cast<std::int32_t>(last)) {
      throw Error(ErrorKind::value, place_of(last, "content"),
                  "continue_final_message needs a final message whose content is rendered");
    }
    Prompt& prompt = out_.prompt();
    std::size_t end = body.end;
    if (body.is_stripped) end = rstrip(std::string_view(prompt.text).substr(0, end)).size();
    prompt.text.resize(end);
    while (!prompt.pieces.empty() && prompt.pieces.back().begin >= end) prompt.pieces.pop_back();
    if (!prompt.pieces.empty() && prompt.pieces.back().end > end) prompt.pieces.back().end = end;
  }

  const Family& family_;
  const OnLoss on_loss_;
  const Conversation& conversation_;
  const bool goes_on_;
  std::vector<Turn> turns_;
  std::deque<std::string> reprs_;
  PromptWriter out_;
};

}  // namespace

Prompt render_prompt(const Family& family, OnLoss on_loss, const Conversation& conversation,
                     const RenderOptions& options) {
  if (conversation.messages.empty()) throw Error(ErrorKind::value, "messages", "no messages");
  if (options.continue_final_message && options.add_generation_prompt) {
    throw Error(ErrorKind::value, "continue_final_message", "cannot be combined with add_generation_prompt");
  }
  return Walk(family, on_loss, conversation, false).run(options);
}

std::optional<std::size_t> find_query(const Family& family, OnLoss on_loss,
                                      const Conversation& new_messages) {
  return Walk(family, on_loss, new_messages, true).last_query();
}

Prompt render_continuation(const Family& family, OnLoss on_loss, const Conversation& new_messages,
                           const CompletionEnd& end) {
  return Walk(family, on_loss, new_messages, true).run_on(end);
}

}  // namespace turnloom
