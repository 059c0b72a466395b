// The fast splitter for the GPT-4 family of patterns (nanochat, cl100k, qwen2), written by hand:
// one pass, one table look-up a code point. PcreSplitter is its twin; pretokenizer_test.cc holds
// the two together.
#pragma once

#include <cstdint>

namespace wt::text {

enum class CharClass : uint8_t { kOther, kLetter, kNumber, kBlank, kNewline };

// \p{L}, \p{N}, White_Space without CR and LF, CR or LF, and the rest. Classes come from PCRE2's
// Unicode tables, so the two splitters share one version of Unicode. Requires code_point <=
// 0x10FFFF.
CharClass ClassOf(uint32_t code_point);

// End of the piece that starts at `p`; `max_digits` is the longest run of numbers in one piece.
// Requires p < end and valid UTF-8 in [p, end), which is the whole rest of the subject.
const char* ScanPiece(const char* p, const char* end, int max_digits);

}  // namespace wt::text
