#include "text/pretokenizer_utf8.h"

#include <algorithm>
#include <cstring>

namespace wt::text {
namespace {

bool EightAsciiBytes(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, 8);
  return (word & 0x8080808080808080u) == 0;
}

// What a lead byte promises: length of the sequence, its own bits, and the range of the second
// byte, which is where overlong forms, surrogates and values above U+10FFFF are told apart.
struct Lead {
  int bytes;
  uint32_t bits;
  uint8_t second_low, second_high;
};

Lead LeadOf(uint8_t b) {
  if (b < 0xC2) return {0, 0, 0, 0};
  if (b < 0xE0) return {2, b & 0x1Fu, 0x80, 0xBF};
  if (b < 0xF0) {
    const uint8_t low = b == 0xE0 ? 0xA0 : 0x80, high = b == 0xED ? 0x9F : 0xBF;
    return {3, b & 0x0Fu, low, high};
  }
  if (b < 0xF5) {
    const uint8_t low = b == 0xF0 ? 0x90 : 0x80, high = b == 0xF4 ? 0x8F : 0xBF;
    return {4, b & 0x07u, low, high};
  }
  return {0, 0, 0, 0};
}

}  // namespace

CodePoint DecodeCodePoint(const char* p, const char* end) {
  const auto* u = reinterpret_cast<const uint8_t*>(p);
  if (u[0] < 0x80) return {u[0], 1};
  const Lead lead = LeadOf(u[0]);
  if (lead.bytes == 0 || end - p < lead.bytes) return {};
  if (u[1] < lead.second_low || u[1] > lead.second_high) return {};
  uint32_t value = lead.bits;
  for (int i = 1; i < lead.bytes; ++i) {
    if ((u[i] & 0xC0) != 0x80) return {};
    value = (value << 6) | (u[i] & 0x3Fu);
  }
  return {value, lead.bytes};
}

size_t ValidUtf8Prefix(std::string_view text) {
  const char* p = text.data();
  const char* end = p + text.size();
  while (p < end) {
    if (end - p >= 8 && EightAsciiBytes(p)) {
      p += 8;
      continue;
    }
    const CodePoint c = DecodeCodePoint(p, end);
    if (c.bytes == 0) break;
    p += c.bytes;
  }
  return p - text.data();
}

std::string_view CodePointPrefix(std::string_view text, int64_t count) {
  const char* p = text.data();
  const char* end = p + text.size();
  // A code point has at least one byte, so a short document needs no look at all.
  if (end - p <= count) return text;
  for (; p < end && count > 0; --count) p += std::max(1, DecodeCodePoint(p, end).bytes);
  return text.substr(0, p - text.data());
}

int64_t CountCodePoints(std::string_view text) {
  int64_t count = 0;
  const char* p = text.data();
  const char* end = p + text.size();
  for (; p < end; ++count) p += std::max(1, DecodeCodePoint(p, end).bytes);
  return count;
}

}  // namespace wt::text
