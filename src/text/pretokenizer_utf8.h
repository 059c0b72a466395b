// UTF-8 as the pre-tokenizer needs it: decode one code point, find how far a text is valid, cut a
// document at a number of code points. Well-formed means the Unicode standard's table 3-7: no
// overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstdint>
#include <string_view>

namespace wt::text {

struct CodePoint {
  uint32_t value = 0;
  int bytes = 0;  // 1 to 4; 0 when no well-formed sequence starts here
};

// The code point that starts at `p`. Requires p < end.
CodePoint DecodeCodePoint(const char* p, const char* end);

// Length in bytes of the longest well-formed prefix of `text`.
size_t ValidUtf8Prefix(std::string_view text);

// The first `count` code points of `text`; a byte outside any well-formed sequence counts as one.
std::string_view CodePointPrefix(std::string_view text, int64_t count);

// Code points in `text`, counted the same way.
int64_t CountCodePoints(std::string_view text);

}  // namespace wt::text
