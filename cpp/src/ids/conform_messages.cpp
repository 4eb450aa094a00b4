#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "turnloom/error.hpp"
#include "turnloom/tool_call_ids.hpp"

namespace turnloom {
namespace {

/// A format that has a free id left gives one long before this many rounds.
constexpr int kMaxRounds = 1 << 16;

/// Calls that wait for a result: the newest turn first, and in a turn in order. A turn is the calls of
/// assistant messages with nothing in between.
class OpenCalls {
 public:
  void push(std::size_t call, std::size_t turn) {
    if (turns_.empty() || turns_.back().number != turn) turns_.push_back({turn, 0, {}});
    turns_.back().calls.push_back(call);
  }

  /// Takes the next one that has no answer yet.
  std::optional<std::size_t> pop(const std::vector<bool>& answered) {
    while (!turns_.empty()) {
      Turn& turn = turns_.back();
      while (turn.n_taken < turn.calls.size()) {
        const std::size_t call = turn.calls[turn.n_taken++];
        if (!answered[call]) return call;
      }
      turns_.pop_back();
    }
    return std::nullopt;
  }

 private:
  struct Turn {
    std::size_t number;
    std::size_t n_taken;
    std::vector<std::size_t> calls;
  };
  std::vector<Turn> turns_;
};

class Conformer {
 public:
  explicit Conformer(const ToolCallIdFormat& format)
      : format_(format), made_up_(ToolCallIdFormat::Kind::any, 0, format.hash_mask()) {}

  void add(const Message& message) {
    ConformedMessage conformed;
    if (message.role != "assistant") ++turn_;
    if (message.role == "tool" || message.tool_call_id) {
      conformed.result = answer(message.tool_call_id.value_or(""), message.name.value_or(""));
    }
    for (const ToolCall& call : message.tool_calls) {
      conformed.calls.push_back(add_call(call.id.value_or(""), call.name, conformed.calls.size()));
    }
    result_.messages.push_back(std::move(conformed));
  }

  ConformedConversation finish() && { return std::move(result_); }

 private:
  /// What is known of an id of the caller; the empty one stands for no id.
  struct Uses {
    OpenCalls open;
    std::optional<std::size_t> last;
  };

  std::size_t add_call(std::string_view id, std::string_view name, std::size_t index) {
    const std::size_t call = add_id(id, name, index);
    all_open_.push(call, turn_);
    Uses& uses = uses_[id];
    uses.open.push(call, turn_);
    uses.last = call;
    return call;
  }

  /// The number of the call that a result answers, or a new one of its own.
  std::size_t answer(std::string_view id, std::string_view name) {
    std::optional<std::size_t> call = find_call(id);
    if (!call) {
      if (name.empty()) name = kimi_name(id).value_or("unknown");
      call = add_id(id, name, std::nullopt);
      if (!id.empty()) uses_[id].last = call;
    }
    answered_[*call] = true;
    return *call;
  }

  std::optional<std::size_t> find_call(std::string_view id) {
    if (id.empty()) return all_open_.pop(answered_);
    Uses& uses = uses_[id];
    if (const auto call = uses.open.pop(answered_)) return call;
    // A second result of one call; or an id that no call has, then it is of the next call without one.
    if (!uses.last) uses.last = uses_[""].open.pop(answered_);
    return uses.last;
  }

  /// `call_index` is nothing for the id of a result.
  std::size_t add_id(std::string_view id, std::string_view name, std::optional<std::size_t> call_index) {
    const std::size_t number = result_.ids.size();
    result_.ids.push_back(format_.kind() == ToolCallIdFormat::Kind::kimi
                              ? "functions." + std::string(name) + ":" + std::to_string(number)
                              : choose_id(id, call_index));
    result_.originals.push_back(id.empty() ? std::nullopt : std::optional(id));
    answered_.push_back(false);
    return number;
  }

  std::string choose_id(std::string_view id, std::optional<std::size_t> call_index) {
    // A call without an id gets one made of its number.
    const std::string wanted =
        id.empty() ? made_up_.replacement("call", result_.ids.size()) : std::string(id);
    // The rounds that the same id has had are taken, so a repeated one goes on from there.
    std::uint64_t& round = next_round_[wanted];
    for (int n_tried = 0; n_tried < kMaxRounds; ++n_tried) {
      const std::uint64_t tried = round++;
      std::string candidate = tried == 0 ? format_.conform(wanted) : format_.replacement(wanted, tried);
      if (taken_.insert(candidate).second) return candidate;
    }
    const std::string place = "messages[" + std::to_string(result_.messages.size()) + "].";
    throw Error(ErrorKind::value,
                place + (call_index ? "tool_calls[" + std::to_string(*call_index) + "].id" : "tool_call_id"),
                "the format has no free id left");
  }

  const ToolCallIdFormat& format_;
  ToolCallIdFormat made_up_;
  ConformedConversation result_;
  std::size_t turn_ = 0;
  OpenCalls all_open_;
  std::unordered_map<std::string_view, Uses> uses_;
  std::vector<bool> answered_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::uint64_t> next_round_;
};

}  // namespace

ConformedConversation conform_messages(const ToolCallIdFormat& format, std::span<const Message> messages) {
  if (messages.empty()) throw Error(ErrorKind::value, "messages", "no messages");
  Conformer conformer(format);
  for (const Message& message : messages) conformer.add(message);
  return std::move(conformer).finish();
}

}  // namespace turnloom
