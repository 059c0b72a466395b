#include "text/pretokenizer_scan.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "text/pretokenizer_pcre.h"
#include "text/pretokenizer_utf8.h"

namespace wt::text {
namespace {

constexpr uint32_t kCodePoints = 0x110000;

constexpr CharClass AsciiClass(int c) {
  if (c == '\r' || c == '\n') return CharClass::kNewline;
  if (c == ' ' || (c >= '\t' && c <= '\r')) return CharClass::kBlank;
  if (c >= '0' && c <= '9') return CharClass::kNumber;
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return CharClass::kLetter;
  return CharClass::kOther;
}

constexpr std::array<CharClass, 128> MakeAsciiClasses() {
  std::array<CharClass, 128> classes{};
  for (int c = 0; c < 128; ++c) classes[c] = AsciiClass(c);
  return classes;
}

constexpr std::array<CharClass, 128> kAsciiClasses = MakeAsciiClasses();

void AppendUtf8(uint32_t c, std::string* out) {
  const auto tail = [&](int shift) { *out += static_cast<char>(0x80 | (c >> shift & 63)); };
  if (c < 0x80) {
    *out += static_cast<char>(c);
  } else if (c < 0x800) {
    *out += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    *out += static_cast<char>(0xE0 | c >> 12);
    tail(6), tail(0);
  } else {
    *out += static_cast<char>(0xF0 | c >> 18);
    tail(12), tail(6), tail(0);
  }
}

// Every code point that UTF-8 can write, in order.
std::string AllCodePoints() {
  std::string all;
  all.reserve(kCodePoints * 4);
  for (uint32_t c = 0; c < kCodePoints; ++c)
    if (c < 0xD800 || c > 0xDFFF) AppendUtf8(c, &all);
  return all;
}

// Gives `value` to the code points of `all` that are in the runs `pattern` matches.
void MarkClass(std::string_view all, std::string_view pattern, CharClass value, CharClass* table) {
  const auto splitter = PcreSplitter::Compile(pattern);
  WT_CHECK(splitter.ok(), "{}", splitter.status().message());
  PcreSplitter::Scratch scratch;
  const char* end = all.data() + all.size();
  for (size_t begin = 0; begin < all.size();) {
    const PcreSplitter::Match run = (*splitter)->Find(all, begin, &scratch);
    for (size_t i = run.begin; i < run.end;) {
      const CodePoint c = DecodeCodePoint(all.data() + i, end);
      table[c.value] = value;
      i += c.bytes;
    }
    begin = run.end;
  }
}

std::vector<CharClass> MakeTable() {
  std::vector<CharClass> table(kCodePoints, CharClass::kOther);
  const std::string all = AllCodePoints();
  MarkClass(all, R"(\p{L}+)", CharClass::kLetter, table.data());
  MarkClass(all, R"(\p{N}+)", CharClass::kNumber, table.data());
  MarkClass(all, R"(\s+)", CharClass::kBlank, table.data());
  MarkClass(all, R"([\r\n])", CharClass::kNewline, table.data());
  return table;
}

struct Char {
  CharClass char_class;
  int bytes;
};

inline Char CharAt(const char* p, const char* end) {
  const auto byte = static_cast<uint8_t>(*p);
  if (byte < 0x80) return {kAsciiClasses[byte], 1};
  const CodePoint c = DecodeCodePoint(p, end);
  return {ClassOf(c.value), c.bytes};
}

inline const char* SkipClass(const char* p, const char* end, CharClass wanted) {
  while (p < end) {
    const Char c = CharAt(p, end);
    if (c.char_class != wanted) break;
    p += c.bytes;
  }
  return p;
}

// Bytes of (?i:[sdmt]|ll|ve|re) at `p`, or 0. Case folding brings U+017F, the long s, to s.
int ContractionBytes(const char* p, const char* end) {
  if (p == end) return 0;
  const auto lower = [](char c) { return static_cast<char>(c | 0x20); };
  const char a = lower(*p);
  if (a == 's' || a == 'd' || a == 'm' || a == 't') return 1;
  if (end - p < 2) return 0;
  if (p[0] == '\xC5' && p[1] == '\xBF') return 2;
  const char b = lower(p[1]);
  return (a == 'l' && b == 'l') || ((a == 'v' || a == 'r') && b == 'e') ? 2 : 0;
}

// \s*[\r\n]|\s+(?!\S)|\s+ : through the last line end of the run; else all of it but the blank that
// belongs to the word after it; else all of it.
const char* ScanSpace(const char* p, const char* end) {
  const char* after_newline = nullptr;
  const char* last = p;  // start of the run's last code point
  const char* q = p;
  while (q < end) {
    const Char c = CharAt(q, end);
    if (c.char_class != CharClass::kBlank && c.char_class != CharClass::kNewline) break;
    last = q;
    q += c.bytes;
    if (c.char_class == CharClass::kNewline) after_newline = q;
  }
  if (after_newline != nullptr) return after_newline;
  return q == end || last == p ? q : last;
}

const char* ScanNumbers(const char* p, const char* end, int max_digits) {
  for (int i = 0; i < max_digits && p < end; ++i) {
    const Char c = CharAt(p, end);
    if (c.char_class != CharClass::kNumber) break;
    p += c.bytes;
  }
  return p;
}

// [^\s\p{L}\p{N}]++[\r\n]* ; `p` is at the first such character.
const char* ScanOthers(const char* p, const char* end) {
  return SkipClass(SkipClass(p, end, CharClass::kOther), end, CharClass::kNewline);
}

}  // namespace

CharClass ClassOf(uint32_t code_point) {
  static const std::vector<CharClass> table = MakeTable();
  return table[code_point];
}

const char* ScanPiece(const char* p, const char* end, int max_digits) {
  if (*p == '\'') {
    const int bytes = ContractionBytes(p + 1, end);
    if (bytes > 0) return p + 1 + bytes;
  }
  const Char first = CharAt(p, end);
  const char* next = p + first.bytes;
  if (first.char_class == CharClass::kLetter) return SkipClass(next, end, CharClass::kLetter);
  if (first.char_class == CharClass::kNumber) return ScanNumbers(p, end, max_digits);
  if (first.char_class == CharClass::kNewline) return ScanSpace(p, end);
  if (next < end) {
    const CharClass second = CharAt(next, end).char_class;
    if (second == CharClass::kLetter) return SkipClass(next, end, CharClass::kLetter);
    if (*p == ' ' && second == CharClass::kOther) return ScanOthers(next, end);
  }
  return first.char_class == CharClass::kOther ? ScanOthers(p, end) : ScanSpace(p, end);
}

}  // namespace wt::text
