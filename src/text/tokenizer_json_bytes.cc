#include "text/tokenizer_json_bytes.h"

#include <array>

#include "text/pretokenizer_utf8.h"

namespace wt::text {
namespace {

constexpr uint32_t kFirstStandIn = 0x100;
constexpr uint32_t kAlphabetEnd = kFirstStandIn + 68;

bool StandsForItself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  Alphabet() {
    bytes.fill(-1);
    uint32_t next = kFirstStandIn;
    for (int byte = 0; byte < 256; ++byte) {
      characters[byte] = StandsForItself(byte) ? static_cast<uint32_t>(byte) : next++;
      bytes[characters[byte]] = static_cast<int16_t>(byte);
    }
  }
  std::array<uint32_t, 256> characters;
  std::array<int16_t, kAlphabetEnd> bytes;
};

const Alphabet& TheAlphabet() {
  static const Alphabet alphabet;
  return alphabet;
}

}  // namespace

std::string BytesToAlphabet(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) {
    const uint32_t c = TheAlphabet().characters[static_cast<uint8_t>(byte)];
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else {
      out += static_cast<char>(0xC0 | c >> 6);
      out += static_cast<char>(0x80 | (c & 0x3F));
    }
  }
  return out;
}

Result<std::string> AlphabetToBytes(std::string_view text) {
  std::string out;
  const char* end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const CodePoint c = DecodeCodePoint(p, end);
    const bool known = c.bytes > 0 && c.value < kAlphabetEnd;
    const int byte = known ? TheAlphabet().bytes[c.value] : -1;
    if (byte < 0) {
      return Error(Code::kCorrupt,
                   "token \"{}\": U+{:04X} stands for no byte in the byte-level alphabet",
                   text.substr(0, 60), c.value);
    }
    out += static_cast<char>(byte);
    p += c.bytes;
  }
  return out;
}

}  // namespace wt::text
