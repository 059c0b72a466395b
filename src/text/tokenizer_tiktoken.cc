#include "text/tokenizer_tiktoken.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/files.h"

namespace wt::text {
namespace {

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string ToBase64(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < n ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += k <= n ? kBase64[bits >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::array<int8_t, 256> Base64Values() {
  std::array<int8_t, 256> values;
  values.fill(-1);
  for (int i = 0; i < 64; ++i) values[static_cast<uint8_t>(kBase64[i])] = static_cast<int8_t>(i);
  return values;
}

bool FromBase64(std::string_view text, std::string* bytes) {
  static const std::array<int8_t, 256> values = Base64Values();
  if (text.empty() || text.size() % 4 != 0) return false;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  uint32_t bits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool pad = i >= text.size() - padding;
    const int value = pad ? 0 : values[static_cast<uint8_t>(text[i])];
    if (value < 0) return false;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (i % 4 != 3) continue;
    for (int shift = 16; shift >= 0; shift -= 8) *bytes += static_cast<char>(bits >> shift & 255);
    bits = 0;
  }
  bytes->resize(bytes->size() - padding);
  return true;
}

struct RankLine {
  std::string bytes;
  int64_t rank = 0;
};

Status ParseLine(std::string_view line, size_t number, RankLine* out) {
  const size_t space = line.find(' ');
  const std::string_view digits = space == line.npos ? "" : line.substr(space + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), out->rank);
  const bool number_ok = error == std::errc() && end == digits.data() + digits.size();
  if (!number_ok || !FromBase64(line.substr(0, space), &out->bytes)) {
    return Error(Code::kCorrupt, "line {}: given \"{}\", expected base64, a space and a rank",
                 number, line.substr(0, 60));
  }
  if (out->rank < 0 || out->rank >= kMaxVocabSize) {
    return Error(Code::kCorrupt, "line {}: rank {}; expected 0 to {}", number, out->rank,
                 kMaxVocabSize - 1);
  }
  return {};
}

Status PlaceToken(RankLine line, size_t number, std::vector<std::string>* tokens) {
  if (static_cast<size_t>(line.rank) >= tokens->size()) tokens->resize(line.rank + 1);
  std::string& slot = (*tokens)[line.rank];
  if (!slot.empty()) {
    return Error(Code::kCorrupt, "line {}: rank {} stands on an earlier line too", number,
                 line.rank);
  }
  slot = std::move(line.bytes);
  return {};
}

Result<std::vector<std::string>> ParseRanks(std::string_view text) {
  std::vector<std::string> tokens;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty()) continue;
    RankLine parsed;
    WT_RETURN_IF_ERROR(ParseLine(line, number, &parsed));
    WT_RETURN_IF_ERROR(PlaceToken(std::move(parsed), number, &tokens));
  }
  for (size_t rank = 0; rank < tokens.size(); ++rank) {
    if (!tokens[rank].empty()) continue;
    return Error(Code::kUnsupported, "rank {} is missing; expected every rank from 0 to {}", rank,
                 tokens.size() - 1);
  }
  return tokens;
}

}  // namespace

Result<Tokenizer> ParseTiktoken(std::string_view ranks, const TiktokenImportOptions& options) {
  TokenizerSpec spec;
  spec.pattern = options.pattern;
  WT_ASSIGN_OR_RETURN(spec.tokens, ParseRanks(ranks));
  spec.special.assign(spec.tokens.size(), false);
  AppendSpecials(options.specials, &spec);
  return Tokenizer::Create(std::move(spec));
}

Result<Tokenizer> ImportTiktoken(const std::string& path, const TiktokenImportOptions& options) {
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Result<Tokenizer> made = ParseTiktoken(text, options);
  if (!made.ok()) return made.status().WithContext(path);
  return made;
}

Result<std::string> FormatTiktoken(const Tokenizer& tokenizer) {
  const TokenizerSpec& spec = tokenizer.spec();
  if (spec.rule != MergeRule::kByRank || !spec.whole_piece_first) {
    return Error(Code::kUnsupported,
                 "a tiktoken file merges by rank and looks for whole pieces first; this vocabulary "
                 "does not, so its ids would change: export a tokenizer.json instead");
  }
  std::string out;
  for (int id = 0; id < tokenizer.vocab_size(); ++id) {
    if (!spec.special[id]) {
      out += fmt::format("{} {}\n", ToBase64(spec.tokens[id]), id);
    } else if (id + 1 < tokenizer.vocab_size() && !spec.special[id + 1]) {
      return Error(Code::kUnsupported,
                   "special {} (\"{}\") stands before ordinary tokens; a tiktoken file would have "
                   "a gap there: export a tokenizer.json instead",
                   id, spec.tokens[id]);
    }
  }
  return out;
}

Status ExportTiktoken(const Tokenizer& tokenizer, const std::string& path) {
  WT_ASSIGN_OR_RETURN(const std::string text, FormatTiktoken(tokenizer));
  return WriteFileAtomic(path, text);
}

}  // namespace wt::text
