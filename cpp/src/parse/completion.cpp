#include <algorithm>
#include <utility>

#include "parse/completion_automaton.hpp"
#include "threads.hpp"
#include "turnloom/parse.hpp"
#include "turnloom/tokenizer.hpp"

namespace turnloom {
namespace {

// Completions that a thread takes at a time: enough to pay for asking, few enough to share out.
constexpr std::size_t kChunkRows = 16;

}  // namespace

CompletionStream::CompletionStream(std::shared_ptr<const BoundFormat> format, bool starts_in_reasoning,
                                   std::vector<std::string> known_tools)
    : automaton_(std::make_unique<CompletionAutomaton>(std::move(format), starts_in_reasoning,
                                                       std::move(known_tools))) {}
CompletionStream::CompletionStream(CompletionStream&&) noexcept = default;
CompletionStream& CompletionStream::operator=(CompletionStream&&) noexcept = default;
CompletionStream::~CompletionStream() = default;

void CompletionStream::feed(std::span<const TokenId> ids, std::vector<Delta>& deltas) {
  automaton_->feed(ids, &deltas);
}

void CompletionStream::end(std::vector<Delta>& deltas) { automaton_->end(&deltas); }

ParsedCompletion CompletionStream::finish() {
  automaton_->end(nullptr);
  return automaton_->take_result();
}

CompletionParser::CompletionParser(const Tokenizer& tokenizer, std::shared_ptr<const TokenBytes> token_bytes,
                                   const CompletionFormat& format)
    : format_(std::make_shared<const BoundFormat>(tokenizer, std::move(token_bytes), format)) {}

CompletionParser::~CompletionParser() = default;

ParsedCompletion CompletionParser::parse(std::span<const TokenId> ids, std::span<const TokenId> prompt_ids,
                                         std::span<const std::string> known_tools) const {
  CompletionAutomaton automaton(format_, leaves_reasoning_open(*format_, prompt_ids),
                                {known_tools.begin(), known_tools.end()});
  automaton.feed(ids, nullptr);
  automaton.end(nullptr);
  return automaton.take_result();
}

std::vector<ParsedCompletion> CompletionParser::parse_batch(
    std::span<const std::span<const TokenId>> completions, std::span<const std::span<const TokenId>> prompts,
    std::span<const std::string> known_tools, std::size_t threads) const {
  std::vector<ParsedCompletion> parsed(completions.size());
  run_on_threads(threads, (completions.size() + kChunkRows - 1) / kChunkRows, [&](std::size_t chunk) {
    const std::size_t end = std::min(completions.size(), (chunk + 1) * kChunkRows);
    for (std::size_t row = chunk * kChunkRows; row < end; ++row) {
      parsed[row] =
          parse(completions[row], prompts.empty() ? std::span<const TokenId>() : prompts[row], known_tools);
    }
  });
  return parsed;
}

bool CompletionParser::is_stop(TokenId id) const noexcept { return format_->is_stop(id); }

bool CompletionParser::ends_in_reasoning(std::span<const TokenId> prompt_ids,
                                         std::span<const TokenId> ids) const {
  if (!format_->format().has_reasoning) return false;
  const bool starts_in_reasoning = leaves_reasoning_open(*format_, prompt_ids);
  const auto end = std::ranges::find_if(ids, [&](TokenId id) { return is_stop(id); });
  // Nearly all completions are decided by what markers they hold, with no text read.
  if (format_->spelled_markers().empty()) {
    bool has_open = starts_in_reasoning;
    for (auto id = ids.begin(); id != end; ++id) {
      if (format_->is_plain(*id)) continue;
      const BoundFormat::Marker* const marker = format_->marker_of(*id);
      if (marker == nullptr) continue;
      if (marker->kind == Item::Kind::think_close) return false;
      has_open |= marker->kind == Item::Kind::think_open;
    }
    if (!has_open) return false;
  }
  CompletionAutomaton automaton(format_, starts_in_reasoning, {});
  automaton.feed(ids, nullptr);
  automaton.end(nullptr);
  return !automaton.take_result().reasoning_complete;
}

CompletionStream CompletionParser::stream(std::span<const TokenId> prompt_ids,
                                          std::vector<std::string> known_tools) const {
  return {format_, leaves_reasoning_open(*format_, prompt_ids), std::move(known_tools)};
}

}  // namespace turnloom
