#include "base/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace wt::dtype_test {
namespace {

struct Kind {
  const char* name;
  float (*decode)(uint8_t);
  uint8_t (*encode)(float);
  float largest;
  uint8_t overflow;  // what a larger number becomes
};
const Kind kKinds[] = {{"e4m3", DecodeF8E4M3, EncodeF8E4M3, 240, 0x78},
                       {"e4m3fn", DecodeF8E4M3FN, EncodeF8E4M3FN, 448, 0x7f},
                       {"e5m2", DecodeF8E5M2, EncodeF8E5M2, 57344, 0x7c}};

// The nearest finite code by trying them all; the even one of two.
uint8_t NearestByTrying(const Kind& kind, float value) {
  int best = 0;
  for (int code = 0; code < 128; ++code) {
    const double candidate = kind.decode(static_cast<uint8_t>(code));
    if (!std::isfinite(candidate)) continue;
    const double distance = std::fabs(candidate - std::fabs(double{value}));
    const double least =
        std::fabs(kind.decode(static_cast<uint8_t>(best)) - std::fabs(double{value}));
    if (distance < least || (distance == least && code % 2 == 0)) best = code;
  }
  return static_cast<uint8_t>(best | (std::signbit(value) ? 0x80 : 0));
}

TEST(DType, EightBitFloatsComeBack) {
  for (const Kind& kind : kKinds) {
    for (int code = 0; code < 256; ++code) {
      const float value = kind.decode(static_cast<uint8_t>(code));
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(kind.decode(kind.encode(value)))) << kind.name << code;
      } else {
        EXPECT_EQ(kind.encode(value), code) << kind.name;
      }
    }
  }
}

TEST(DType, EightBitFloatsRoundToTheNearest) {
  Philox random(1, 0);
  for (const Kind& kind : kKinds) {
    for (int i = 0; i < 20000; ++i) {
      const float scale = std::ldexp(1.0f, int(random.NextBelow(40)) - 24);
      const float value = random.NextNormal() * scale;
      if (std::fabs(value) > kind.largest) continue;
      ASSERT_EQ(kind.encode(value), NearestByTrying(kind, value)) << kind.name << " " << value;
    }
  }
}

TEST(DType, EightBitFloatsAtTheirLimits) {
  for (const Kind& kind : kKinds) {
    const float step =
        kind.largest - kind.decode(static_cast<uint8_t>(kind.encode(kind.largest) - 1));
    EXPECT_EQ(kind.decode(kind.encode(kind.largest)), kind.largest) << kind.name;
    EXPECT_EQ(kind.decode(kind.encode(kind.largest + 0.49f * step)), kind.largest) << kind.name;
    EXPECT_EQ(kind.encode(kind.largest + 0.51f * step), kind.overflow) << kind.name;
    EXPECT_EQ(kind.encode(-INFINITY), kind.overflow | 0x80) << kind.name;
    EXPECT_EQ(kind.encode(-0.0f), 0x80) << kind.name;
    EXPECT_TRUE(std::isnan(kind.decode(kind.encode(NAN)))) << kind.name;
  }
}

TEST(DType, ScalesArePowersOfTwo) {
  EXPECT_EQ(DecodeF8E8M0(127), 1);
  EXPECT_EQ(DecodeF8E8M0(0), 0x1p-127f);
  EXPECT_TRUE(std::isnan(DecodeF8E8M0(255)));
  for (int code = 0; code < 255; ++code)
    EXPECT_EQ(EncodeF8E8M0(DecodeF8E8M0(static_cast<uint8_t>(code))), code);
  EXPECT_EQ(EncodeF8E8M0(1.4f), 127);
  EXPECT_EQ(EncodeF8E8M0(1.6f), 128);
  EXPECT_EQ(EncodeF8E8M0(-1), 255);
}

TEST(DType, TF32KeepsTenBits) {
  EXPECT_EQ(RoundToTF32(1 + 0x1p-10f), 1 + 0x1p-10f);
  EXPECT_EQ(RoundToTF32(1 + 0x1p-11f), 1);                // a tie: to even
  EXPECT_EQ(RoundToTF32(1 + 3 * 0x1p-11f), 1 + 0x1p-9f);  // likewise
  EXPECT_EQ(RoundToTF32(1 + 0x1p-11f + 0x1p-23f), 1 + 0x1p-10f);
  EXPECT_EQ(RoundToTF32(INFINITY), INFINITY);
  EXPECT_EQ(RoundToTF32(std::numeric_limits<float>::max()), INFINITY);
  EXPECT_TRUE(std::isnan(RoundToTF32(NAN)));
}

}  // namespace
}  // namespace wt::dtype_test
