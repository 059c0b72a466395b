#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace wt {
namespace {

// Check value of the CRC catalogue, and the vectors of RFC 3720, B.4.
TEST(Crc32c, KnownVectors) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(Crc32c, FastEqualsPlainInAnyPieces) {
  Philox random(1, 2);
  for (int round = 0; round < 200; ++round) {
    std::string bytes(random.NextBelow(100), ' ');
    for (char& c : bytes) c = static_cast<char>(random.NextU32());
    const size_t cut = random.NextBelow(bytes.size() + 1);
    const uint32_t expected = Crc32cPlain(bytes);
    EXPECT_EQ(Crc32c(bytes), expected);
    EXPECT_EQ(Crc32c(bytes.substr(cut), Crc32c(bytes.substr(0, cut))), expected);
  }
}

}  // namespace
}  // namespace wt
