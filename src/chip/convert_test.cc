#include "chip/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace wt::chip::convert_test {
namespace {

// Arbitrary bit patterns and the values around every rounding point of the 16- and 8-bit floats.
std::vector<float> InterestingFloats() {
  std::vector<float> values;
  for (uint32_t high = 0; high < 0x10000; ++high) {
    for (uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      values.push_back(std::bit_cast<float>(high << 16 | low));
  }
  for (uint32_t half = 0; half < 0x10000; ++half) {  // f16 values and the points between them
    const float value = std::bit_cast<F16>(static_cast<uint16_t>(half));
    const auto bits = std::bit_cast<uint32_t>(value);
    for (uint32_t add : {0u, 0xfffu, 0x1000u, 0x1001u})
      values.push_back(std::bit_cast<float>(bits + add));
  }
  return values;
}

uint32_t PlainBits(DType dtype, float value) {
  switch (dtype) {
    case DType::kBF16:
      return BF16(value).bits;
    case DType::kF16:
      return F16(value).bits;
    case DType::kF8E4M3:
      return EncodeF8E4M3(value);
    case DType::kF8E4M3FN:
      return EncodeF8E4M3FN(value);
    case DType::kF8E5M2:
      return EncodeF8E5M2(value);
    case DType::kTF32:
      return std::bit_cast<uint32_t>(RoundToTF32(value));
    default:
      return std::bit_cast<uint32_t>(value);
  }
}

float PlainFloat(DType dtype, uint32_t bits) {
  switch (dtype) {
    case DType::kBF16:
      return std::bit_cast<float>(bits << 16);
    case DType::kF16:
      return std::bit_cast<F16>(static_cast<uint16_t>(bits));
    case DType::kF8E4M3:
      return DecodeF8E4M3(static_cast<uint8_t>(bits));
    case DType::kF8E4M3FN:
      return DecodeF8E4M3FN(static_cast<uint8_t>(bits));
    case DType::kF8E5M2:
      return DecodeF8E5M2(static_cast<uint8_t>(bits));
    default:
      return std::bit_cast<float>(bits);
  }
}

const DType kFloats[] = {DType::kBF16,   DType::kF16,  DType::kF8E4M3, DType::kF8E4M3FN,
                         DType::kF8E5M2, DType::kTF32, DType::kF32};

TEST(Convert, FloatsNarrowAsTheirPlainTwins) {
  const std::vector<float> values = InterestingFloats();
  const auto n = static_cast<int64_t>(values.size());
  for (DType dtype : kFloats) {
    std::vector<uint32_t> bits(values.size());
    std::vector<std::byte> bytes(values.size() * 4);
    StoreFloats(dtype, bytes.data(), 1, n, values.data());
    LoadBits(dtype, bytes.data(), 1, n, bits.data());
    for (size_t i = 0; i < values.size(); ++i) {
      const uint32_t want = PlainBits(dtype, values[i]);
      const bool nan = std::isnan(PlainFloat(dtype, want));
      if (nan ? !std::isnan(PlainFloat(dtype, bits[i])) : bits[i] != want)
        FAIL() << DTypeName(dtype) << " of " << values[i] << ": " << bits[i] << ", not " << want;
    }
  }
}

TEST(Convert, EveryNarrowFloatWidensExactly) {
  std::vector<uint32_t> bits(0x10000);
  for (uint32_t i = 0; i < bits.size(); ++i) bits[i] = i;
  for (DType dtype :
       {DType::kBF16, DType::kF16, DType::kF8E4M3, DType::kF8E4M3FN, DType::kF8E5M2}) {
    const int64_t n = DTypeBytes(dtype) == 1 ? 256 : 0x10000;
    std::vector<std::byte> bytes(0x20000);
    std::vector<float> values(static_cast<size_t>(n));
    StoreBits(dtype, bytes.data(), 1, n, bits.data());
    LoadFloats(dtype, bytes.data(), 1, n, values.data());
    for (int64_t i = 0; i < n; ++i) {
      const float want = PlainFloat(dtype, static_cast<uint32_t>(i));
      const float got = values[static_cast<size_t>(i)];
      if (std::isnan(want) ? !std::isnan(got)
                           : std::bit_cast<uint32_t>(got) != std::bit_cast<uint32_t>(want))
        FAIL() << DTypeName(dtype) << " " << i << ": " << got << ", not " << want;
    }
  }
}

struct IntCase {
  DType dtype;
  double low, high;
};

TEST(Convert, IntegersRoundToEvenAndSaturate) {
  const IntCase cases[] = {{DType::kI8, -128, 127},
                           {DType::kU8, 0, 255},
                           {DType::kI16, -32768, 32767},
                           {DType::kU16, 0, 65535},
                           {DType::kI32, -0x1p31, 0x1p31 - 1},
                           {DType::kU32, 0, 0x1p32 - 1}};
  std::vector<float> values = {0.5f,     1.5f,      2.5f,          -0.5f,        -1.5f, 126.5f,
                               127.5f,   254.5f,    255.5f,        -128.5f,      1e10f, -1e10f,
                               INFINITY, -INFINITY, 2147483520.0f, 4294967040.0f};
  Philox random(3, 0);
  for (int i = 0; i < 10000; ++i)
    values.push_back(random.NextNormal() * std::ldexp(1.0f, int(random.NextBelow(36))));
  const auto n = static_cast<int64_t>(values.size());
  for (const IntCase& test : cases) {
    std::vector<std::byte> bytes(values.size() * 4);
    std::vector<int64_t> got(values.size());
    StoreFloats(test.dtype, bytes.data(), 1, n, values.data());
    LoadInts(test.dtype, bytes.data(), 1, n, got.data());
    for (size_t i = 0; i < values.size(); ++i) {
      const double want = std::clamp(std::nearbyint(double{values[i]}), test.low, test.high);
      ASSERT_EQ(double(got[i]), want) << DTypeName(test.dtype) << " of " << values[i];
    }
  }
  float nan = NAN;
  int32_t result = 7;
  StoreFloats(DType::kI32, reinterpret_cast<std::byte*>(&result), 1, 1, &nan);
  EXPECT_EQ(result, 0);
}

TEST(Convert, StepsReachTheRightElements) {
  Philox random(5, 0);
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kF8E5M2, DType::kI16, DType::kU8}) {
    for (int64_t step : {1, 2, 3, -1, 0}) {
      for (int64_t n : {1, 7, 16, 100}) {
        std::vector<std::byte> bytes(100 * 3 * 4 + 16);
        std::vector<float> values(static_cast<size_t>(n)), back(static_cast<size_t>(n));
        for (float& value : values) value = static_cast<float>(random.NextBelow(8));
        std::byte* start = bytes.data() + (step < 0 ? (n - 1) * DTypeBytes(dtype) : 0);
        StoreFloats(dtype, start, step, n, values.data());
        LoadFloats(dtype, start, step, n, back.data());
        for (size_t i = 0; i < values.size(); ++i)
          ASSERT_EQ(back[i], step == 0 ? values.back() : values[i])
              << DTypeName(dtype) << step << n;
      }
    }
  }
}

TEST(Convert, NumbersKeepAllBitsOfIntegers) {
  int32_t value[2] = {};
  StoreNumber(DType::kI32, 2147483645, 2, reinterpret_cast<std::byte*>(value));
  EXPECT_EQ(value[0], 2147483645);
  EXPECT_EQ(value[1], 2147483645);
}

}  // namespace
}  // namespace wt::chip::convert_test
