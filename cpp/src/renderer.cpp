#include "turnloom/renderer.hpp"

#include <algorithm>
#include <utility>

#include "attribution.hpp"
#include "engine.hpp"
#include "families/family.hpp"
#include "segmenter.hpp"
#include "threads.hpp"
#include "turnloom/error.hpp"

namespace turnloom {
namespace {

// Rows that are encoded with one call of the text encoder: enough to pay for the call, few enough to share
// out.
constexpr std::size_t kChunkRows = 32;

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void append_columns(TokenColumns& to, const TokenColumns& from) {
  append(to.token_ids, from.token_ids);
  append(to.message_indices, from.message_indices);
  append(to.fields, from.fields);
  append(to.sampled_mask, from.sampled_mask);
  append(to.is_content, from.is_content);
  append(to.loss_mask, from.loss_mask);
  append(to.byte_offsets, from.byte_offsets);
}

const LossRule& rule_of(const BatchRow& row) {
  static const LossRule every_sampled;
  return row.loss == nullptr ? every_sampled : *row.loss;
}

}  // namespace

Renderer::Renderer(std::shared_ptr<const Tokenizer> tokenizer, const RendererConfig& config)
    : tokenizer_(std::move(tokenizer)),
      family_(make_family(*tokenizer_, config)),
      marker_policy_(config.marker_policy),
      on_loss_(config.on_loss),
      thinking_retention_(config.thinking_retention.value_or(family_->traits().retention)) {}

Renderer::~Renderer() = default;

Prompt Renderer::render_prompt(const Conversation& conversation, const RenderOptions& options) const {
  return turnloom::render_prompt(*family_, on_loss_, conversation, options);
}

RenderedColumns Renderer::render(const Conversation& conversation, const RenderOptions& options,
                                 const LossRule& loss) const {
  const ColumnChoice choice{.byte_offsets = options.byte_offsets,
                            .loss_mask = changes_loss(loss, conversation)};
  Prompt prompt = render_prompt(conversation, options);
  if (choice.loss_mask) mark_trained(prompt.pieces, conversation, loss);
  RenderedColumns rendered;
  rendered.markers = encode(std::move(prompt), choice, rendered.columns);
  return rendered;
}

std::vector<MarkerHit> Renderer::encode(Prompt prompt, const ColumnChoice& choice,
                                        TokenColumns& columns) const {
  auto [segments, markers] =
      segment(prompt.text, prompt.pieces, *tokenizer_, marker_policy_, prompt.messages_name);
  const SegmentedPrompt row{std::move(prompt), std::move(segments)};
  std::vector<std::size_t> row_ends;
  encode_prompts({&row, 1}, tokenizer_->encoder(), choice, columns, row_ends);
  return std::move(markers);
}

BatchColumns Renderer::render_batch(std::span<const BatchRow> rows, const RenderOptions& options,
                                    std::size_t threads) const {
  // All rows have the same columns, so one that changes its loss decides for all.
  const ColumnChoice choice{.byte_offsets = options.byte_offsets,
                            .loss_mask = std::ranges::any_of(rows, [](const BatchRow& row) {
                              return row.conversation != nullptr &&
                                     changes_loss(rule_of(row), *row.conversation);
                            })};
  std::vector<BatchColumns> chunks((rows.size() + kChunkRows - 1) / kChunkRows);
  run_on_threads(threads, chunks.size(), [&](std::size_t chunk_index) {
    BatchColumns& chunk = chunks[chunk_index];
    const std::size_t first = chunk_index * kChunkRows;
    std::vector<SegmentedPrompt> prompts(std::min(kChunkRows, rows.size() - first));
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const std::size_t row = first + i;
      if (rows[row].conversation == nullptr) continue;
      const Conversation& conversation = *rows[row].conversation;
      try {
        Prompt prompt = render_prompt(conversation, options);
        if (choice.loss_mask) mark_trained(prompt.pieces, conversation, rule_of(rows[row]));
        auto [segments, markers] = segment(prompt.text, prompt.pieces, *tokenizer_, marker_policy_);
        prompts[i] = {std::move(prompt), std::move(segments)};
        for (const MarkerHit& marker : markers) chunk.markers.emplace_back(row, marker);
      } catch (const Error&) {
        chunk.errors.emplace_back(row, std::current_exception());
      }
    }
    std::vector<std::size_t> row_ends;
    encode_prompts(prompts, tokenizer_->encoder(), choice, chunk.columns, row_ends);
    chunk.offsets.assign(row_ends.begin(), row_ends.end());
  });

  BatchColumns batch;
  batch.offsets.reserve(rows.size() + 1);
  batch.offsets.push_back(0);
  for (BatchColumns& chunk : chunks) {
    const auto base = static_cast<std::int64_t>(batch.columns.size());
    for (const std::int64_t end : chunk.offsets) batch.offsets.push_back(base + end);
    append_columns(batch.columns, chunk.columns);
    append(batch.markers, chunk.markers);
    append(batch.errors, chunk.errors);
    chunk = {};
  }
  return batch;
}

bool Renderer::is_prefix_stable() const noexcept { return family_->traits().is_prefix_stable; }

std::vector<TokenId> Renderer::stop_token_ids() const { return family_->stop_token_ids(); }

CompletionFormat Renderer::completion_format() const { return family_->completion_format(); }

bool Renderer::prints_content_lists() const noexcept {
  return on_loss_ == OnLoss::template_text && family_->traits().prints_content_lists;
}

}  // namespace turnloom
