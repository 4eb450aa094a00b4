// Which tokens are trained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "turnloom/prompt.hpp"
#include "turnloom/types.hpp"

namespace turnloom {

/// What `loss_mask` selects. Without changes: all that the model samples. A message with `train` false is out
/// whatever the rule says.
struct LossRule {
  enum class Turns : std::uint8_t {
    all,     ///< every assistant message
    last,    ///< the last assistant message
    listed,  ///< those in `messages`
  };

  Turns turns = Turns::all;
  std::vector<std::size_t> messages;                 ///< indices of assistant messages
  std::set<std::string, std::less<>> content_roles;  ///< other roles whose content is trained, too
  bool reasoning = true;                             ///< reasoning and its markup
  bool stop = true;                                  ///< the close of a turn
};

/// Whether the rule may leave out something that is sampled, or take in something that is not. Where it does
/// not, the loss mask is the sampled mask.
[[nodiscard]] bool changes_loss(const LossRule& rule, const Conversation& conversation) noexcept;

/// Sets `trained` of every piece of a conversation's prompt.
/// Throws Error (value) where a listed message is not there, or is no assistant's.
void mark_trained(std::span<Piece> pieces, const Conversation& conversation, const LossRule& rule);

}  // namespace turnloom
