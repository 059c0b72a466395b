#include "base/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace wt {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // bit-reversed

constexpr uint32_t ShiftByte(uint32_t crc) {
  for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? kPolynomial : 0);
  return crc;
}

// tables[k][b]: the effect of byte b that is followed by k further bytes.
constexpr auto kTables = [] {
  std::array<std::array<uint32_t, 256>, 8> tables = {};
  for (uint32_t b = 0; b < 256; ++b) {
    tables[0][b] = ShiftByte(b);
    for (size_t k = 1; k < 8; ++k) tables[k][b] = ShiftByte(tables[k - 1][b]);
  }
  return tables;
}();

// Eight bytes at a time; the low byte of `word` comes first.
uint32_t Update8(uint32_t crc, uint64_t word) {
  word ^= crc;
  uint32_t next = 0;
  for (size_t k = 0; k < 8; ++k) next ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
  return next;
}

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t crc) {
  static_assert(std::endian::native == std::endian::little);
  crc = ~crc;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    crc = Update8(crc, word);
  }
  for (const char c : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint8_t>(c)) & 0xff];
  return ~crc;
}

uint32_t Crc32cPlain(std::string_view bytes, uint32_t crc) {
  crc = ~crc;
  for (const char c : bytes) crc = ShiftByte(crc ^ static_cast<uint8_t>(c));
  return ~crc;
}

}  // namespace wt
