#include "attribution.hpp"

#include <algorithm>
#include <string_view>

namespace turnloom {
namespace {

// Tokens come in order, so the piece only ever moves forward.
class ColumnWriter {
 public:
  ColumnWriter(const Prompt& prompt, bool byte_offsets, TokenColumns& columns)
      : pieces_(prompt.pieces), byte_offsets_(byte_offsets), columns_(columns) {}

  void append(TokenId id, std::size_t begin, std::size_t end) {
    while (piece_ + 1 < pieces_.size() && pieces_[piece_].end <= begin) ++piece_;
    const Piece& piece = pieces_[piece_];
    columns_.token_ids.push_back(id);
    columns_.message_indices.push_back(piece.message);
    columns_.fields.push_back(static_cast<std::uint8_t>(piece.field));
    columns_.sampled_mask.push_back(piece.sampled ? 1 : 0);
    columns_.is_content.push_back(piece.is_content ? 1 : 0);
    if (byte_offsets_) {
      columns_.byte_offsets.push_back(static_cast<std::int64_t>(begin));
      columns_.byte_offsets.push_back(static_cast<std::int64_t>(end));
    }
  }

 private:
  const std::vector<Piece>& pieces_;
  const bool byte_offsets_;
  TokenColumns& columns_;
  std::size_t piece_ = 0;
};

// A vector that grows a row at a time must not be moved at every row.
template <typename T>
void reserve_more(std::vector<T>& column, std::size_t n) {
  if (column.capacity() < column.size() + n) column.reserve(std::max(column.size() + n, 2 * column.size()));
}

}  // namespace

void encode_prompts(std::span<const SegmentedPrompt> prompts, const TextEncoder& encoder, bool byte_offsets,
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
  if (byte_offsets) reserve_more(columns.byte_offsets, 2 * n_tokens);

  std::size_t region = 0;
  std::size_t token = 0;
  for (const auto& [prompt, segments] : prompts) {
    ColumnWriter writer(prompt, byte_offsets, columns);
    for (const Segment& segment : segments) {
      if (segment.token != kNoToken) {
        writer.append(segment.token, segment.begin, segment.end);
        continue;
      }
      const std::size_t end = token + encoded.counts[region++];
      for (; !encoder.has_offsets() && token < end; ++token) {
        writer.append(encoded.ids[token], segment.begin, segment.end);
      }
      for (; token < end; ++token) {
        writer.append(encoded.ids[token], segment.begin + static_cast<std::size_t>(encoded.begins[token]),
                      segment.begin + static_cast<std::size_t>(encoded.ends[token]));
      }
    }
    row_ends.push_back(columns.size());
  }
  if (!encoder.has_offsets()) {
    // A region has one message, so far as families go, but more than one field.
    columns.fields.clear();
    columns.sampled_mask.clear();
    columns.is_content.clear();
    columns.byte_offsets.clear();
  }
}

}  // namespace turnloom
