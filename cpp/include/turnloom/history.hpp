// The tokens of a rollout: columns that only grow, and whose snapshots stay as they are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "turnloom/columns.hpp"
#include "turnloom/types.hpp"

namespace turnloom {

/// An array that grows at its end and is never written elsewhere. Copies share memory: the first that grows
/// goes on in place, the others move. Appending is amortized linear in what is appended; a copy is constant.
/// Copies may be used by different threads, one of them by one at a time.
template <typename T>
class GrowingArray {
 public:
  /// The elements as they are, for as long as `owner` is held.
  struct Snapshot {
    std::shared_ptr<const void> owner;
    std::span<const T> values;
  };

  /// Adds `n` elements and gives them to be written.
  [[nodiscard]] std::span<T> grow(std::size_t n) {
    // Elements behind `size_` are free if no copy has taken them.
    std::size_t expected = size_;
    if (block_ == nullptr || block_->capacity - size_ < n ||
        !block_->n_used.compare_exchange_strong(expected, size_ + n)) {
      move_to(std::make_shared<Block>(std::max(size_ + n, 2 * size_)), n);
    }
    const std::span<T> added(block_->values.get() + size_, n);
    size_ += n;
    return added;
  }
  void append(std::span<const T> values) { std::ranges::copy(values, grow(values.size()).begin()); }
  void append(std::size_t n, T value) { std::ranges::fill(grow(n), value); }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::span<const T> values() const noexcept {
    return block_ == nullptr ? std::span<const T>() : std::span<const T>(block_->values.get(), size_);
  }
  [[nodiscard]] Snapshot snapshot() const noexcept { return {block_, values()}; }

 private:
  struct Block {
    explicit Block(std::size_t n) : values(std::make_unique_for_overwrite<T[]>(n)), capacity(n) {}

    std::unique_ptr<T[]> values;
    std::size_t capacity;
    std::atomic<std::size_t> n_used = 0;
  };

  void move_to(std::shared_ptr<Block> block, std::size_t n) {
    std::ranges::copy(values(), block->values.get());
    block->n_used = size_ + n;
    block_ = std::move(block);
  }

  std::shared_ptr<Block> block_;
  std::size_t size_ = 0;
};

/// A prompt, what was sampled from it, what was appended to that, and so on. Copying is cheap.
class TokenHistory {
 public:
  /// Appends rendered tokens, none of them sampled here and so none to be trained. Their message indices
  /// count from `first_message`; kNoMessage stays.
  void append_rendered(const TokenColumns& columns, std::int32_t first_message);
  /// Appends what the model sampled for a message. Fields and log-probabilities are one a token.
  void append_sampled(std::span<const TokenId> ids, std::span<const std::uint8_t> ids_fields,
                      std::span<const float> ids_logprobs, std::int32_t message);

  [[nodiscard]] std::size_t size() const noexcept { return token_ids.size(); }

  GrowingArray<TokenId> token_ids;
  GrowingArray<std::int32_t> message_indices;
  GrowingArray<std::uint8_t> fields;
  GrowingArray<std::uint8_t> sampled_mask;  ///< 0 or 1
  GrowingArray<std::uint8_t> is_content;    ///< 0 or 1
  GrowingArray<std::uint8_t> loss_mask;     ///< 0 or 1: sampled here
  GrowingArray<float> logprobs;             ///< 0 of what was not sampled here
  /// Whether fields, `sampled_mask` and `is_content` are known of all tokens: a text encoder without offsets
  /// does not give them.
  bool is_attributed = true;
};

}  // namespace turnloom
