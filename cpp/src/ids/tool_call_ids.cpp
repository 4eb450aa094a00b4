#include "turnloom/tool_call_ids.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "turnloom/error.hpp"
#include "turnloom/hash.hpp"

namespace turnloom {
namespace {

constexpr std::size_t kHashDigits = 10;  // of base 62: as many as 64 bits fill
constexpr std::size_t kSuffix = 17;      // "_" and 16 hex digits
constexpr std::size_t kUrlSafeKept = 40;
constexpr std::size_t kBedrockLongest = 64;
constexpr std::size_t kBlock = 1024;  // ids replaced together: their hashes stay in the cache

constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

using ByteSet = std::array<bool, 256>;

constexpr ByteSet alphanumerics_and(std::string_view others) {
  ByteSet set{};
  for (const std::string_view part : {kDigits, others}) {
    for (const char c : part) set[static_cast<unsigned char>(c)] = true;
  }
  return set;
}

constexpr ByteSet kAlphanumeric = alphanumerics_and("");
constexpr ByteSet kUrlSafe = alphanumerics_and("_-");
constexpr ByteSet kBedrock = alphanumerics_and("_.:-");

bool contains(const ByteSet& set, char byte) noexcept { return set[static_cast<unsigned char>(byte)]; }

bool all_in(const ByteSet& set, std::string_view text) noexcept {
  // Without an early end: ids are short, and most are accepted.
  bool all = true;
  for (const char byte : text) all &= contains(set, byte);
  return all;
}

bool begins_character(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

/// Bytes of the first `n` characters of a text, or of all.
std::size_t prefix_bytes(std::string_view text, std::size_t n_characters) noexcept {
  std::size_t n_begun = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i]) && n_begun++ == n_characters) return i;
  }
  return text.size();
}

/// The first characters of an id, those outside of the set as "_".
void append_cleaned(std::string_view id, const ByteSet& set, std::size_t n_characters, std::string& out) {
  const std::string_view kept = id.substr(0, prefix_bytes(id, n_characters));
  for (const char byte : kept) {
    if (begins_character(byte)) out += contains(set, byte) ? byte : '_';
  }
}

void append_hex(std::uint64_t hash, std::string& out) {
  for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[hash >> shift & 0xF];
}

}  // namespace

ToolCallIdFormat::ToolCallIdFormat(Kind kind, std::size_t n, std::uint64_t hash_mask)
    : kind_(kind), n_(n), hash_mask_(hash_mask) {}

bool ToolCallIdFormat::accepts(std::string_view id) const noexcept {
  switch (kind_) {
    case Kind::any:
      return true;
    case Kind::max_length:
      return id.size() <= n_ || prefix_bytes(id, n_) == id.size();
    case Kind::url_safe:
      return !id.empty() && all_in(kUrlSafe, id);
    case Kind::bedrock:
      return !id.empty() && id.size() <= kBedrockLongest && all_in(kBedrock, id);
    case Kind::alphanumeric:
      return id.size() == n_ && all_in(kAlphanumeric, id);
    case Kind::kimi:
      return kimi_name(id).has_value();
  }
  return false;
}

std::string ToolCallIdFormat::conform(std::string_view id) const {
  require_single_ids();
  return id.empty() || accepts(id) ? std::string(id) : replacement(id, 0);
}

ReplacedIds ToolCallIdFormat::conform_batch(std::span<const std::string_view> ids) const {
  require_single_ids();
  ReplacedIds replaced;
  const std::size_t n_rounds = n_hashes();
  std::vector<std::string_view> block;
  std::vector<std::uint64_t> round_hashes(kBlock);
  std::vector<std::uint64_t> hashes(kBlock * n_rounds);  // those of an id together
  for (std::size_t row = 0; row < ids.size();) {
    block.clear();
    for (; row < ids.size() && block.size() < kBlock; ++row) {
      if (ids[row].empty() || accepts(ids[row])) continue;
      replaced.rows.push_back(row);
      block.push_back(ids[row]);
    }
    for (std::size_t round = 0; round < n_rounds; ++round) {
      fnv1a_64_batch(block, fnv1a_64_round(round), {round_hashes.data(), block.size()});
      for (std::size_t i = 0; i < block.size(); ++i)
        hashes[i * n_rounds + round] = round_hashes[i] & hash_mask_;
    }
    for (std::size_t i = 0; i < block.size(); ++i) {
      append_replacement(block[i], &hashes[i * n_rounds], replaced.text);
      replaced.offsets.push_back(replaced.text.size());
    }
  }
  return replaced;
}

std::string ToolCallIdFormat::replacement(std::string_view id, std::uint64_t round) const {
  require_single_ids();
  std::vector<std::uint64_t> hashes(n_hashes());
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    hashes[i] = fnv1a_64(id, fnv1a_64_round(round + i)) & hash_mask_;
  }
  std::string text;
  append_replacement(id, hashes.data(), text);
  return text;
}

bool ToolCallIdFormat::is_all_hash() const noexcept {
  return kind_ == Kind::alphanumeric || (kind_ == Kind::max_length && n_ <= kSuffix);
}

void ToolCallIdFormat::require_single_ids() const {
  if (kind_ != Kind::kimi) return;
  throw Error(
      ErrorKind::value, "id",
      "a kimi id is counted over a conversation, there is none for an id alone; use conform_messages");
}

std::size_t ToolCallIdFormat::n_hashes() const noexcept {
  return is_all_hash() ? (n_ + kHashDigits - 1) / kHashDigits : 1;
}

void ToolCallIdFormat::append_replacement(std::string_view id, const std::uint64_t* hashes,
                                          std::string& out) const {
  if (is_all_hash()) {
    std::uint64_t digits = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (i % kHashDigits == 0) digits = hashes[i / kHashDigits];
      out += kDigits[digits % kDigits.size()];
      digits /= kDigits.size();
    }
    return;
  }
  switch (kind_) {
    case Kind::max_length:
      out += id.substr(0, prefix_bytes(id, n_ - kSuffix));
      break;
    case Kind::url_safe:
      append_cleaned(id, kUrlSafe, kUrlSafeKept, out);
      break;
    case Kind::bedrock:
      append_cleaned(id, kBedrock, kBedrockLongest - kSuffix, out);
      break;
    default:
      out += id;
      break;
  }
  out += '_';
  append_hex(hashes[0], out);
}

std::optional<std::string_view> kimi_name(std::string_view id) noexcept {
  constexpr std::string_view kPrefix = "functions.";
  const std::size_t colon = id.rfind(':');
  if (!id.starts_with(kPrefix) || colon == std::string_view::npos || colon <= kPrefix.size())
    return std::nullopt;
  const std::string_view index = id.substr(colon + 1);
  const bool is_number = std::all_of(index.begin(), index.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (index.empty() || !is_number) return std::nullopt;
  return id.substr(kPrefix.size(), colon - kPrefix.size());
}

template <typename Offset>
FlatTexts<Offset> with_replaced_ids(std::span<const std::string_view> ids, const ReplacedIds& replaced) {
  FlatTexts<Offset> flat;
  flat.offsets.reserve(ids.size() + 1);
  flat.offsets.push_back(0);
  std::size_t next = 0;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    if (next < replaced.rows.size() && replaced.rows[next] == row) {
      const std::size_t begin = replaced.offsets[next];
      flat.text.append(replaced.text, begin, replaced.offsets[next + 1] - begin);
      ++next;
    } else {
      flat.text.append(ids[row]);
    }
    if (flat.text.size() > static_cast<std::size_t>(std::numeric_limits<Offset>::max())) {
      throw Error(ErrorKind::value, "ids",
                  "the result is too long for 32-bit offsets; use a large_string array");
    }
    flat.offsets.push_back(static_cast<Offset>(flat.text.size()));
  }
  return flat;
}

template FlatTexts<std::int32_t> with_replaced_ids(std::span<const std::string_view>, const ReplacedIds&);
template FlatTexts<std::int64_t> with_replaced_ids(std::span<const std::string_view>, const ReplacedIds&);

}  // namespace turnloom
