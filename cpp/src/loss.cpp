#include "turnloom/loss.hpp"

#include <algorithm>
#include <string_view>

#include "turnloom/error.hpp"
#include "turnloom/json.hpp"

namespace turnloom {
namespace {

bool is_assistant(const Message& message) { return message.role == "assistant"; }

void check_listed(const LossRule& rule, const Conversation& conversation) {
  for (std::size_t i = 0; i < rule.messages.size(); ++i) {
    const std::size_t index = rule.messages[i];
    const std::string place = "loss.turns[" + std::to_string(i) + "]";
    const std::string given = std::to_string(index);
    if (index >= conversation.messages.size()) {
      const std::string n_messages = std::to_string(conversation.messages.size());
      throw Error(ErrorKind::value, place, "no message " + given + " in a conversation of " + n_messages);
    }
    if (!is_assistant(conversation.messages[index])) {
      throw Error(ErrorKind::value, place,
                  "messages[" + given + "] is of the role " + quoted(conversation.messages[index].role) +
                      ", not an assistant's");
    }
  }
}

// For each message whether any of it is trained: 0 or 1.
std::vector<std::uint8_t> trained_messages(const Conversation& conversation, const LossRule& rule) {
  const std::vector<Message>& messages = conversation.messages;
  std::vector<std::uint8_t> trained(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    trained[i] = is_assistant(messages[i]) ? rule.turns == LossRule::Turns::all
                                           : rule.content_roles.contains(messages[i].role);
  }
  if (rule.turns == LossRule::Turns::last) {
    const auto last = std::ranges::find_if(messages.rbegin(), messages.rend(), is_assistant);
    if (last != messages.rend()) trained[static_cast<std::size_t>(messages.rend() - last) - 1] = 1;
  }
  for (const std::size_t index : rule.messages) trained[index] = 1;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!messages[i].train) trained[i] = 0;
  }
  return trained;
}

bool takes_in(const LossRule& rule, Field field) {
  switch (field) {
    case Field::reasoning:
    case Field::reasoning_markup:
      return rule.reasoning;
    case Field::turn_close:
      return rule.stop;
    default:
      return true;
  }
}

}  // namespace

bool changes_loss(const LossRule& rule, const Conversation& conversation) noexcept {
  if (rule.turns != LossRule::Turns::all || !rule.content_roles.empty()) return true;
  if (!rule.reasoning || !rule.stop) return true;
  return !std::ranges::all_of(conversation.messages, &Message::train);
}

void mark_trained(std::span<Piece> pieces, const Conversation& conversation, const LossRule& rule) {
  check_listed(rule, conversation);
  const std::vector<std::uint8_t> trained = trained_messages(conversation, rule);
  for (Piece& piece : pieces) {
    // Of an assistant all that is sampled counts as content, of others only their own text.
    piece.trained = piece.is_content && piece.message != kNoMessage &&
                    trained[static_cast<std::size_t>(piece.message)] != 0 && takes_in(rule, piece.field);
  }
}

}  // namespace turnloom
