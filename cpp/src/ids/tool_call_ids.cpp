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

constexpr bool begins_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

/// Bytes of the first `n` characters of a text, or of all.
std::size_t prefix_bytes(std::string_view text, std::size_t n_characters) noexcept {
  if (text.size() <= n_characters) return text.size();
  std::size_t n_begun = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i]) && n_begun++ == n_characters) return i;
  }
  return text.size();
}

/// What stands for each byte of a cleaned id: itself, "_", or 0 for the bytes that go on a character.
using Cleaning = std::array<char, 256>;

constexpr Cleaning cleaning(const ByteSet& set) {
  Cleaning map{};
  for (std::size_t byte = 0; byte < map.size(); ++byte) {
    const char c = static_cast<char>(byte);
    if (set[byte]) {
      map[byte] = c;
    } else if (begins_character(c)) {
      map[byte] = '_';
    }
  }
  return map;
}

constexpr Cleaning kUrlSafeCleaning = cleaning(kUrlSafe);
constexpr Cleaning kBedrockCleaning = cleaning(kBedrock);

// These write to memory that has room, and return the end of what they wrote.

char* write(std::string_view text, char* out) noexcept { return std::copy(text.begin(), text.end(), out); }

char* write_cleaned(std::string_view text, const Cleaning& map, char* out) noexcept {
  for (const char byte : text) {
    const char cleaned = map[static_cast<unsigned char>(byte)];
    *out = cleaned;
    out += cleaned != 0 ? 1 : 0;
  }
  return out;
}

char* write_hex(std::uint64_t hash, char* out) noexcept {
  for (int shift = 60; shift >= 0; shift -= 4) *out++ = kDigits[hash >> shift & 0xF];
  return out;
}

/// `n` digits of base 62, the least significant first; ten of each hash.
char* write_digits(const std::uint64_t* hashes, std::size_t n, char* out) noexcept {
  for (std::size_t begin = 0; begin < n; begin += kHashDigits) {
    std::uint64_t hash = *hashes++;
    for (std::size_t i = begin; i < std::min(n, begin + kHashDigits); ++i) {
      *out++ = kDigits[hash % kDigits.size()];
      hash /= kDigits.size();
    }
  }
  return out;
}

}  // namespace

ToolCallIdFormat::ToolCallIdFormat(Kind kind, std::size_t n, std::uint64_t hash_mask)
    : kind_(kind), n_(n), hash_mask_(hash_mask) {}

bool ToolCallIdFormat::accepts(std::string_view id) const noexcept {
  switch (kind_) {
    case Kind::any:
      return true;
    case Kind::max_length:
      return prefix_bytes(id, n_) == id.size();
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
  std::size_t room = 0;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    if (ids[row].empty() || accepts(ids[row])) continue;
    replaced.rows.push_back(row);
    room += longest_replacement(ids[row]);
  }
  // All memory at once: what it costs to get more of it is more than all the rest.
  replaced.text.reserve(room);
  replaced.offsets.reserve(replaced.rows.size() + 1);

  const std::size_t n_rounds = n_hashes();
  std::vector<std::string_view> block;
  std::vector<std::uint64_t> round_hashes(kBlock);
  std::vector<std::uint64_t> hashes(kBlock * n_rounds);  // those of an id together
  for (std::size_t begin = 0; begin < replaced.rows.size(); begin += kBlock) {
    block.clear();
    for (std::size_t i = begin; i < std::min(begin + kBlock, replaced.rows.size()); ++i) {
      block.push_back(ids[replaced.rows[i]]);
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

std::size_t ToolCallIdFormat::longest_replacement(std::string_view id) const noexcept {
  return is_all_hash() ? n_ : id.size() + kSuffix;
}

void ToolCallIdFormat::append_replacement(std::string_view id, const std::uint64_t* hashes,
                                          std::string& text) const {
  const std::size_t begin = text.size();
  text.resize(begin + longest_replacement(id));
  const char* end = write_replacement(id, hashes, text.data() + begin);
  text.resize(static_cast<std::size_t>(end - text.data()));
}

char* ToolCallIdFormat::write_replacement(std::string_view id, const std::uint64_t* hashes,
                                          char* out) const noexcept {
  if (is_all_hash()) return write_digits(hashes, n_, out);
  const auto first = [&](std::size_t n_characters) { return id.substr(0, prefix_bytes(id, n_characters)); };
  switch (kind_) {
    case Kind::max_length:
      out = write(first(n_ - kSuffix), out);
      break;
    case Kind::url_safe:
      out = write_cleaned(first(kUrlSafeKept), kUrlSafeCleaning, out);
      break;
    case Kind::bedrock:
      out = write_cleaned(first(kBedrockLongest - kSuffix), kBedrockCleaning, out);
      break;
    default:
      out = write(id, out);
      break;
  }
  *out++ = '_';
  return write_hex(hashes[0], out);
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
  std::size_t n_bytes = replaced.text.size();
  for (const std::string_view id : ids) n_bytes += id.size();
  flat.text.reserve(n_bytes);
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
