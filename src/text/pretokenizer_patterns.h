// The split patterns this build reproduces, by name and by their exact text. A tokenizer file or an
// import that carries any other pattern is refused: an approximate split would give other ids.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace wt::text {

struct SplitPattern {
  std::string_view name;
  std::string_view text;  // as tiktoken, nanochat or tokenizer.json spell it
  // Longest run of numbers in one piece for the hand-written splitter of pretokenizer_scan.h;
  // 0 when only PCRE2 splits this pattern.
  int scan_digits;
};

// nanochat (the default), cl100k and its two spellings, gpt2 and its two, qwen2, o200k.
std::span<const SplitPattern> SplitPatterns();

Result<const SplitPattern*> SplitPatternByName(std::string_view name);
Result<const SplitPattern*> SplitPatternByText(std::string_view text);

}  // namespace wt::text
