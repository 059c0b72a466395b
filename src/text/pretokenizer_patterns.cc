#include "text/pretokenizer_patterns.h"

namespace wt::text {
namespace {

constexpr SplitPattern kPatterns[] = {
    {"nanochat",
     R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*)"
     R"(|\s*[\r\n]|\s+(?!\S)|\s+)",
     2},
    // GPT-4's as first published and as Llama 3's tokenizer.json has it.
    {"cl100k",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
     R"(|\s*[\r\n]+|\s+(?!\S)|\s+)",
     3},
    // tiktoken's current spelling. It differs at the end of a text: blanks there are one piece.
    {"cl100k-possessive",
     R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+)"
     R"(|\s++$|\s*[\r\n]|\s+(?!\S)|\s)",
     0},
    {"qwen2",
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
     R"(|\s*[\r\n]+|\s+(?!\S)|\s+)",
     1},
    {"gpt2", R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", 0},
    {"gpt2-possessive",
     R"('(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s)", 0},
    {"o200k",
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
     R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3})"
     R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*)"
     R"(|\s*[\r\n]+|\s+(?!\S)|\s+)",
     0},
};

std::string Names() {
  std::string names;
  for (const SplitPattern& p : kPatterns) names.append(names.empty() ? "" : ", ").append(p.name);
  return names;
}

}  // namespace

std::span<const SplitPattern> SplitPatterns() { return kPatterns; }

Result<const SplitPattern*> SplitPatternByName(std::string_view name) {
  for (const SplitPattern& p : kPatterns)
    if (p.name == name) return &p;
  return Error(Code::kUnsupported, "split pattern \"{}\": no such name; expected one of {}", name,
               Names());
}

Result<const SplitPattern*> SplitPatternByText(std::string_view text) {
  for (const SplitPattern& p : kPatterns)
    if (p.text == text) return &p;
  return Error(
      Code::kUnsupported,
      "split pattern `{}` is not one this build reproduces; expected the exact text of one "
      "of {}",
      text.substr(0, 200), Names());
}

}  // namespace wt::text
