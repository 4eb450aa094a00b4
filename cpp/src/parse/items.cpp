#include "parse/items.hpp"

#include <algorithm>
#include <utility>

#include "families/family.hpp"
#include "parse/lossy_utf8.hpp"
#include "utf8.hpp"

namespace turnloom {

TokenBytes::TokenBytes(std::string bytes, std::vector<std::size_t> begins)
    : bytes_(std::move(bytes)), begins_(std::move(begins)) {
  is_utf8_.reserve(begins_.size());
  for (std::size_t i = 0; i + 1 < begins_.size(); ++i) {
    is_utf8_.push_back(
        turnloom::is_utf8(std::string_view(bytes_).substr(begins_[i], begins_[i + 1] - begins_[i])) ? 1 : 0);
  }
}

BoundFormat::BoundFormat(const Tokenizer& tokenizer, std::shared_ptr<const TokenBytes> token_bytes,
                         const CompletionFormat& format)
    : format_(format), token_bytes_(std::move(token_bytes)) {
  if (!format.header_token.empty()) {
    markers_.push_back(
        {Item::Kind::header, format.header_token, require_token(tokenizer, format.header_token).id});
  }
  if (format.has_reasoning) {
    add_marker(tokenizer, Item::Kind::think_open, "<think>");
    add_marker(tokenizer, Item::Kind::think_close, "</think>");
  }
  switch (format.calls) {
    case CallSyntax::none:
      break;
    case CallSyntax::tagged_json:
      add_marker(tokenizer, Item::Kind::call_open, "<tool_call>");
      add_marker(tokenizer, Item::Kind::call_close, "</tool_call>");
      break;
    case CallSyntax::llama_json:
      add_marker(tokenizer, Item::Kind::call_open, "<|python_tag|>");
      break;
  }
  const auto include = [&](TokenId id) {
    first_special_ = std::min(first_special_, id);
    last_special_ = std::max(last_special_, id);
  };
  for (const Marker& marker : markers_) include(marker.token);
  for (const TokenId id : format_.stop_tokens) include(id);
}

void BoundFormat::add_marker(const Tokenizer& tokenizer, Item::Kind kind, std::string_view spelling) {
  if (const auto id = tokenizer.added_token_id(spelling)) {
    markers_.push_back({kind, spelling, *id});
  } else {
    spelled_markers_.push_back({kind, spelling, kNoToken});
  }
}

const BoundFormat::Marker* BoundFormat::marker_of(TokenId id) const noexcept {
  const auto marker = std::ranges::find(markers_, id, &Marker::token);
  return marker == markers_.end() ? nullptr : &*marker;
}

bool BoundFormat::is_stop(TokenId id) const noexcept {
  return std::ranges::find(format_.stop_tokens, id) != format_.stop_tokens.end();
}

std::size_t ItemReader::read(std::span<const TokenId> ids, std::vector<Item>& items) {
  items.clear();
  if (format_.has_text_runs()) {
    if (const std::size_t n_ids = read_run(ids, items); n_ids > 0) return n_ids;
  }
  read_token(ids.front(), items);
  return 1;
}

// Reads ids as long as they are whole characters of text: nearly all are.
std::size_t ItemReader::read_run(std::span<const TokenId> ids, std::vector<Item>& items) {
  if (!incomplete_.empty()) return 0;
  const TokenBytes& token_bytes = format_.token_bytes();
  const std::size_t begin = text_.size();
  std::size_t n_ids = 0;
  while (n_ids < ids.size() && format_.is_plain(ids[n_ids]) && token_bytes.is_utf8(ids[n_ids])) {
    text_ += token_bytes.of(ids[n_ids++]);
  }
  if (begin < text_.size()) {
    items.push_back({Item::Kind::text, begin, text_.size(), n_tokens_, n_tokens_ + n_ids});
  }
  n_tokens_ += n_ids;
  return n_ids;
}

void ItemReader::read_token(TokenId id, std::vector<Item>& items) {
  if (!format_.is_plain(id)) {
    if (format_.is_stop(id)) return end(items);
    if (const auto* const marker = format_.marker_of(id)) {
      flush(items);
      const std::size_t begin = text_.size();
      text_ += marker->spelling;
      items.push_back({marker->kind, begin, text_.size(), n_tokens_, n_tokens_ + 1});
      ++n_tokens_;
      return;
    }
  }
  const std::string_view bytes = format_.token_bytes().of(id);
  const std::size_t begin = text_.size();
  if (incomplete_.empty() && format_.token_bytes().is_utf8(id)) {
    text_ += bytes;
  } else {
    incomplete_ += bytes;
    incomplete_.erase(0, append_lossy(incomplete_, text_));
  }
  add_text(begin, n_tokens_, items);
  ++n_tokens_;
}

void ItemReader::end(std::vector<Item>& items) {
  items.clear();
  flush(items);
  items.push_back({Item::Kind::end, text_.size(), text_.size(), n_tokens_, n_tokens_});
  ended_ = true;
}

void ItemReader::flush(std::vector<Item>& items) {
  if (!incomplete_.empty()) {
    incomplete_.clear();
    const std::size_t begin = text_.size();
    text_ += kReplacement;
    add_text(begin, n_tokens_, items);
  }
  items.insert(items.end(), beginning_.begin(), beginning_.end());
  beginning_.clear();
}

void ItemReader::add_text(std::size_t begin, std::size_t token, std::vector<Item>& items) {
  if (begin == text_.size()) return;
  const Item run{Item::Kind::text, begin, text_.size(), token, token + 1};
  if (format_.spelled_markers().empty()) {
    items.push_back(run);
  } else {
    find_spelled_markers(run, items);
  }
}

void ItemReader::find_spelled_markers(const Item& run, std::vector<Item>& items) {
  Item text = run;  // what is certain to be text
  text.end = text.begin;
  const auto give_text = [&](std::size_t next) {
    if (text.begin != text.end) items.push_back(text);
    text.begin = text.end = next;
  };
  for (std::size_t at = run.begin; at < run.end; ++at) {
    const std::size_t begin = beginning_.empty() ? at : beginning_.front().begin;
    const std::string_view spelled = std::string_view(text_).substr(begin, at + 1 - begin);
    const auto markers = format_.spelled_markers();
    const auto marker = std::ranges::find_if(
        markers, [&](const BoundFormat::Marker& other) { return other.spelling.starts_with(spelled); });
    if (marker == markers.end()) {
      if (beginning_.empty()) {
        ++text.end;
      } else {
        // No marker has its first character twice: only this one can begin another.
        for (const Item& character : beginning_) {
          if (character.begin >= run.begin) {
            ++text.end;
          } else {
            items.push_back(character);
          }
        }
        beginning_.clear();
        --at;
      }
    } else if (marker->spelling.size() == spelled.size()) {
      const std::size_t first_token = beginning_.empty() ? run.first_token : beginning_.front().first_token;
      give_text(at + 1);
      items.push_back({marker->kind, begin, at + 1, first_token, run.end_token});
      beginning_.clear();
    } else {
      if (beginning_.empty()) give_text(at);
      beginning_.push_back({Item::Kind::text, at, at + 1, run.first_token, run.end_token});
    }
  }
  give_text(run.end);
}

}  // namespace turnloom
