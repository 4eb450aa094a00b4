// NFC and where its bytes come from.
#include "bpe/nfc.hpp"

#include <cstddef>
#include <string>
#include <string_view>

#include "check.hpp"

using namespace turnloom;

namespace {

/// The normalised text. The spans of its bytes must cover the source, in order.
std::string nfc(std::string_view text) {
  NormalisedText out;
  out.text = "left over";
  normalise(text, out);
  CHECK(is_nfc(text) == (out.text == text));
  std::size_t chunk = 0;
  std::size_t reach = 0;
  for (std::size_t i = 0; i < out.text.size(); ++i) {
    const auto [begin, end] = out.source_of(i, i + 1, chunk);
    CHECK(begin < end && begin <= reach && end <= text.size());
    reach = end > reach ? end : reach;
  }
  CHECK(reach == text.size());
  return out.text;
}

/// The source of the first place of `part` in the normalised text.
std::string_view source(std::string_view text, std::string_view part) {
  NormalisedText out;
  normalise(text, out);
  const std::size_t begin = out.text.find(part);
  CHECK(begin != std::string::npos);
  std::size_t chunk = 0;
  const auto span = out.source_of(begin, begin + part.size(), chunk);
  return text.substr(span.begin, span.end - span.begin);
}

void composes() {
  CHECK(nfc("").empty());
  CHECK(nfc("plain text, cafés, 中文, हिन्दी, ไทย, العَرَبِيَّة, 한국어") ==
        "plain text, cafés, 中文, हिन्दी, ไทย, العَرَبِيَّة, 한국어");
  CHECK(nfc("cafe\u0301s") == "cafés");
  CHECK(nfc("\u212B") == "Å");
  CHECK(nfc("a\u0323\u0302 a\u0302\u0323 â\u0323") == "ậ ậ ậ");
  CHECK(nfc("\u1112\u1161\u11AB 하\u11AB") == "한 한");
  // Decomposed and never composed again.
  CHECK(nfc("\u0958 \u0344") == "\u0915\u093C \u0308\u0301");
}

void orders_marks() {
  CHECK(nfc("q\u0301\u0323") == "q\u0323\u0301");
  CHECK(nfc("\u0301\u0323") == "\u0323\u0301");
  CHECK(nfc("e\u0327\u0301\u0301") == "ȩ\u0301\u0301");
  // A mark between keeps one of the same class from composing.
  CHECK(nfc("a\u0305\u0301") == "a\u0305\u0301");
  CHECK(nfc("ab\u0301") == "ab\u0301");
  // Unknown to the Unicode 9 of the oracle, so in no order.
  CHECK(nfc("q\u0301\u1ABF") == "q\u0301\u1ABF");
}

void knows_sources() {
  CHECK(source("xe\u0301y", "é") == "e\u0301");
  CHECK(source("xe\u0301y", "xé") == "xe\u0301");
  CHECK(source("xe\u0301🦙y", "🦙y") == "🦙y");
  // Bytes of a character that stays are its own, of one that was composed all of its source.
  CHECK(source("e\u0301🦙", "\x9F\xA6") == "\x9F\xA6");
  CHECK(source("e\u0301🦙", "\xA9") == "e\u0301");
  CHECK(source("\u0958z", "\u093C") == "\u0958");
  // Characters that changed places stand for those in whose places they are.
  CHECK(source("q\u0301\u0323", "\u0323") == "\u0301");
}

void long_runs() {
  std::string marks = "a";
  for (int i = 0; i < 100000; ++i) marks += "\u0301\u0323";
  NormalisedText out;
  normalise(marks, out);
  CHECK(out.text.starts_with("ạ\u0323\u0323"));
  CHECK(out.text.ends_with("\u0301\u0301"));
  CHECK(!is_nfc(marks));
  CHECK(is_nfc(out.text));
}

}  // namespace

int main() {
  composes();
  orders_marks();
  knows_sources();
  long_runs();
}
