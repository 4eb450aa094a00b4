// A completion from its first token to its last: header, reasoning, answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parse/answer.hpp"
#include "parse/items.hpp"
#include "parse/response_writer.hpp"

namespace turnloom {

/// ids --ItemReader--> Item --header, reasoning, Answer--> ResponseWriter --> Delta, ParsedCompletion
class CompletionAutomaton {
 public:
  CompletionAutomaton(std::shared_ptr<const BoundFormat> format, bool starts_in_reasoning,
                      std::vector<std::string> known_tools);
  CompletionAutomaton(const CompletionAutomaton&) = delete;
  CompletionAutomaton& operator=(const CompletionAutomaton&) = delete;

  /// Takes ids; appends to `deltas`, if it is not null, what they decide. Those after a stop token are
  /// ignored.
  void feed(std::span<const TokenId> ids, std::vector<Delta>* deltas);
  void end(std::vector<Delta>* deltas);
  /// After the end, once.
  [[nodiscard]] ParsedCompletion take_result();

 private:
  enum class State : std::uint8_t {
    start,
    header,
    before_reasoning,
    reasoning,
    draft_or_call,  ///< behind the opener of a call in the reasoning
    answer,
  };

  [[nodiscard]] State behind_header() const noexcept;
  void take_items();
  void take(const Item& item);
  void take_in_header(const Item& item);
  void take_before_reasoning(const Item& item);
  void take_in_reasoning(const Item& item);
  void take_in_draft(const Item& item);
  /// Takes what was held once more, and then this one.
  void take_held(State state, const Item& item);

  std::shared_ptr<const BoundFormat> format_;
  bool starts_in_reasoning_;
  std::vector<std::string> known_tools_;
  ItemReader reader_;
  ResponseWriter out_;
  std::unique_ptr<Answer> answer_;
  State state_ = State::start;
  std::vector<Item> items_;   ///< those that were read last
  std::vector<Item> held_;    ///< those that later ones decide on
  std::size_t n_header_ = 0;  ///< bytes of the header that were read
  std::size_t n_reasoning_tokens_ = 0;
};

/// Whether a prompt ends inside reasoning of its last turn.
[[nodiscard]] bool leaves_reasoning_open(const BoundFormat& format, std::span<const TokenId> prompt_ids);

}  // namespace turnloom
