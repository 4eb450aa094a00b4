#include "attribution.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace turnloom {
namespace {

// Tokens come in order, so the piece only ever moves forward.
class ColumnWriter {
 public:
  ColumnWriter(const Prompt& prompt, ColumnChoice choice, TokenColumns& columns)
      : pieces_(prompt.pieces), choice_(choice), columns_(columns) {}

  void append(const Segment& token) {
    columns_.token_ids.push_back(token.token);
    append_origin(piece_of(token.begin), 1);
    if (choice_.byte_offsets) append_span(token.begin, token.end);
  }

  /// Tokens whose begins and ends are bytes behind `offset`, in order of both.
  void append(std::span<const TokenId> ids, std::span<const std::uint32_t> begins,
              std::span<const std::uint32_t> ends, std::size_t offset) {
    columns_.token_ids.insert(columns_.token_ids.end(), ids.begin(), ids.end());
    for (auto first = begins.begin(); first != begins.end();) {
      const Piece& piece = piece_of(offset + *first);
      const auto last = &piece == &pieces_.back() ? begins.end()
                                                  : std::lower_bound(first, begins.end(), piece.end - offset);
      append_origin(piece, static_cast<std::size_t>(last - first));
      first = last;
    }
    if (!choice_.byte_offsets) return;
    for (std::size_t i = 0; i < ids.size(); ++i) append_span(offset + begins[i], offset + ends[i]);
  }

  /// Tokens of which no more is known than that they are those of the segment.
  void append(std::span<const TokenId> ids, const Segment& segment) {
    columns_.token_ids.insert(columns_.token_ids.end(), ids.begin(), ids.end());
    append_origin(piece_of(segment.begin), ids.size());
  }

 private:
  const Piece& piece_of(std::size_t byte) {
    while (piece_ + 1 < pieces_.size() && pieces_[piece_].end <= byte) ++piece_;
    return pieces_[piece_];
  }

  void append_origin(const Piece& piece, std::size_t n_tokens) {
    const auto append = [&](auto& column, auto value) { column.insert(column.end(), n_tokens, value); };
    append(columns_.message_indices, piece.message);
    append(columns_.fields, static_cast<std::uint8_t>(piece.field));
    append(columns_.sampled_mask, static_cast<std::uint8_t>(piece.sampled));
    append(columns_.is_content, static_cast<std::uint8_t>(piece.is_content));
    if (choice_.loss_mask) append(columns_.loss_mask, static_cast<std::uint8_t>(piece.trained));
  }

  void append_span(std::size_t begin, std::size_t end) {
    columns_.byte_offsets.push_back(static_cast<std::int64_t>(begin));
    columns_.byte_offsets.push_back(static_cast<std::int64_t>(end));
  }

  const std::vector<Piece>& pieces_;
  const ColumnChoice choice_;
  TokenColumns& columns_;
  std::size_t piece_ = 0;
};

// A vector that grows a row at a time must not be moved at every row.
template <typename T>
void reserve_more(std::vector<T>& column, std::size_t n) {
  if (column.capacity() < column.size() + n) column.reserve(std::max(column.size() + n, 2 * column.size()));
}

}  // namespace

void encode_prompts(std::span<const SegmentedPrompt> prompts, const TextEncoder& encoder, ColumnChoice choice,
                    TokenColumns& columns, std::vector<std::size_t>& row_ends) {
  std::vector<std::string_view> regions;
  std::size_t n_tokens = 0;
  for (const auto& [prompt, segments] : prompts) {
    for (const Segment& segment : segments) {
      if (segment.token == kNoToken) {
        regions.push_back(std::string_view(prompt.text).substr(segment.begin, segment.end - segment.begin));
      } else {
        ++n_tokens;
      }
    }
  }
  EncodedRegions encoded;
  if (!regions.empty()) encoder.encode(regions, encoded);
  n_tokens += encoded.ids.size();
  reserve_more(columns.token_ids, n_tokens);
  reserve_more(columns.message_indices, n_tokens);
  reserve_more(columns.fields, n_tokens);
  reserve_more(columns.sampled_mask, n_tokens);
  reserve_more(columns.is_content, n_tokens);
  if (choice.loss_mask) reserve_more(columns.loss_mask, n_tokens);
  if (choice.byte_offsets) reserve_more(columns.byte_offsets, 2 * n_tokens);

  std::size_t region = 0;
  std::size_t token = 0;
  for (const auto& [prompt, segments] : prompts) {
    ColumnWriter writer(prompt, choice, columns);
    for (const Segment& segment : segments) {
      if (segment.token != kNoToken) {
        writer.append(segment);
        continue;
      }
      const std::size_t n = encoded.counts[region++];
      const std::span ids = std::span(encoded.ids).subspan(token, n);
      if (encoder.has_offsets()) {
        writer.append(ids, std::span(encoded.begins).subspan(token, n),
                      std::span(encoded.ends).subspan(token, n), segment.begin);
      } else {
        writer.append(ids, segment);
      }
      token += n;
    }
    row_ends.push_back(columns.size());
  }
  if (!encoder.has_offsets()) {
    // A region has one message, so far as families go, but more than one field.
    columns.fields.clear();
    columns.sampled_mask.clear();
    columns.is_content.clear();
    columns.loss_mask.clear();
    columns.byte_offsets.clear();
  }
}

}  // namespace turnloom
