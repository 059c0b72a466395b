#include "text/tokenizer_file.h"

#include <charconv>

#include "base/files.h"
#include "text/pretokenizer_patterns.h"

namespace wt::text {
namespace {

constexpr std::string_view kTokenizerMagic = "windtunnel-tokenizer ";
constexpr std::string_view kTokenizerVersion = "1";
constexpr size_t kMaxMerges = size_t{1} << 22;

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool ParseHex(std::string_view hex, std::string* bytes) {
  if (hex.size() % 2 != 0) return false;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = HexDigit(hex[i]), low = HexDigit(hex[i + 1]);
    if (high < 0 || low < 0) return false;
    *bytes += static_cast<char>(high << 4 | low);
  }
  return true;
}

std::string_view RuleName(MergeRule rule) { return rule == MergeRule::kByRank ? "rank" : "list"; }

// Takes the file apart line by line.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}

  Result<std::string_view> Line() {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) {
      return Error(Code::kCorrupt, "line {}: the file is truncated; copy or train it again",
                   number_ + 1);
    }
    ++number_;
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }

  // The rest of the next line, which must begin with `key` and a space.
  Result<std::string_view> Value(std::string_view key) {
    WT_ASSIGN_OR_RETURN(const std::string_view line, Line());
    if (line.substr(0, key.size()) != key || line.substr(key.size(), 1) != " ")
      return Bad(line, fmt::format("\"{} …\"", key));
    return line.substr(key.size() + 1);
  }

  Result<int64_t> Number(std::string_view key, int64_t low, int64_t high) {
    WT_ASSIGN_OR_RETURN(const std::string_view value, Value(key));
    int64_t number = 0;
    if (!ParseNumber(value, &number) || number < low || number > high)
      return Bad(value, fmt::format("{} from {} to {}", key, low, high));
    return number;
  }

  Result<MergePair> Pair(int64_t limit) {
    WT_ASSIGN_OR_RETURN(const std::string_view line, Line());
    const size_t space = line.find(' ');
    int64_t left = 0, right = 0;
    if (space == std::string_view::npos || !ParseNumber(line.substr(0, space), &left) ||
        !ParseNumber(line.substr(space + 1), &right) || left < 0 || right < 0 || left >= limit ||
        right >= limit) {
      return Bad(line, fmt::format("two token ids below {}", limit));
    }
    return MergePair{static_cast<int32_t>(left), static_cast<int32_t>(right)};
  }

  Status Bad(std::string_view given, const std::string& expected) const {
    return Error(Code::kCorrupt, "line {}: given \"{}\", expected {}", number_, given.substr(0, 60),
                 expected);
  }

  bool AtEnd() const { return rest_.empty(); }

 private:
  static bool ParseNumber(std::string_view text, int64_t* number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    return error == std::errc() && end == text.data() + text.size();
  }

  std::string_view rest_;
  int number_ = 0;
};

Status CheckMagic(std::string_view text) {
  if (text.substr(0, kTokenizerMagic.size()) != kTokenizerMagic) {
    const bool json = !text.empty() && text[0] == '{';
    return Error(Code::kCorrupt, "not a tokenizer file: it does not start with \"{}\"{}",
                 kTokenizerMagic, json ? "; import a tokenizer.json instead of loading it" : "");
  }
  const size_t line_end = text.find('\n');
  if (line_end == text.npos) return Error(Code::kCorrupt, "line 1: the file is truncated");
  const std::string_view version =
      text.substr(kTokenizerMagic.size(), line_end - kTokenizerMagic.size());
  if (version != kTokenizerVersion) {
    return Error(Code::kUnsupported, "tokenizer file version \"{}\"; this build reads version {}",
                 version.substr(0, 20), kTokenizerVersion);
  }
  return {};
}

Status ParseHead(TextLines* in, TokenizerSpec* spec) {
  WT_RETURN_IF_ERROR(in->Line().status());  // CheckMagic has read it
  WT_ASSIGN_OR_RETURN(const std::string_view pattern_text, in->Value("pattern"));
  WT_ASSIGN_OR_RETURN(const SplitPattern* pattern, SplitPatternByText(pattern_text));
  spec->pattern = pattern->name;
  WT_ASSIGN_OR_RETURN(const std::string_view rule, in->Value("merge"));
  if (rule != "rank" && rule != "list") return in->Bad(rule, "rank or list");
  spec->rule = rule == "rank" ? MergeRule::kByRank : MergeRule::kByList;
  WT_ASSIGN_OR_RETURN(const int64_t whole, in->Number("whole_piece_first", 0, 1));
  spec->whole_piece_first = whole == 1;
  WT_ASSIGN_OR_RETURN(const int64_t bos, in->Number("bos", -1, kMaxVocabSize - 1));
  spec->bos = static_cast<int>(bos);
  return {};
}

Status ParseToken(TextLines* in, TokenizerSpec* spec) {
  WT_ASSIGN_OR_RETURN(const std::string_view line, in->Line());
  const std::string_view kind = line.substr(0, 2);
  std::string token;
  if (kind == "s ") {
    token = line.substr(2);
  } else if (kind != "b " || !ParseHex(line.substr(2), &token)) {
    return in->Bad(line, "\"b HEX\" (bytes) or \"s NAME\" (a special)");
  }
  spec->tokens.push_back(std::move(token));
  spec->special.push_back(kind == "s ");
  return {};
}

}  // namespace

std::string SerializeTokenizer(const TokenizerSpec& spec) {
  const auto pattern = SplitPatternByName(spec.pattern);
  WT_CHECK(pattern.ok(), "{}", pattern.status().message());
  std::string out =
      fmt::format("{}{}\npattern {}\nmerge {}\nwhole_piece_first {}\nbos {}\nvocab {}\n",
                  kTokenizerMagic, kTokenizerVersion, (*pattern)->text, RuleName(spec.rule),
                  spec.whole_piece_first ? 1 : 0, spec.bos, spec.tokens.size());
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    out += spec.special[id] ? "s " + spec.tokens[id] + "\n" : "b " + Hex(spec.tokens[id]) + "\n";
  out += fmt::format("merges {}\n", spec.merges.size());
  for (const MergePair& m : spec.merges) out += fmt::format("{} {}\n", m.left, m.right);
  return out + "sha256 " + Sha256(out) + "\n";
}

Result<TokenizerSpec> ParseTokenizer(std::string_view text) {
  WT_RETURN_IF_ERROR(CheckMagic(text));
  TextLines in(text);
  TokenizerSpec spec;
  WT_RETURN_IF_ERROR(ParseHead(&in, &spec));
  WT_ASSIGN_OR_RETURN(const int64_t vocab, in.Number("vocab", 256, kMaxVocabSize));
  for (int64_t id = 0; id < vocab; ++id) WT_RETURN_IF_ERROR(ParseToken(&in, &spec));
  WT_ASSIGN_OR_RETURN(const int64_t merges, in.Number("merges", 0, kMaxMerges));
  for (int64_t i = 0; i < merges; ++i) {
    WT_ASSIGN_OR_RETURN(const MergePair pair, in.Pair(vocab));
    spec.merges.push_back(pair);
  }
  WT_RETURN_IF_ERROR(in.Value("sha256").status());
  if (!in.AtEnd()) return Error(Code::kCorrupt, "bytes after the checksum; expected the end");
  // The spelling is canonical, so comparing texts covers the checksum and every stray blank or
  // zero.
  if (SerializeTokenizer(spec) != text) {
    return Error(Code::kCorrupt,
                 "the checksum (last line) does not fit the contents; copy or train it again");
  }
  return spec;
}

}  // namespace wt::text
