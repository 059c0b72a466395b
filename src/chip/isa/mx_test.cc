#include "chip/isa/testing.h"

namespace wt::chip::mx_test {
namespace {

// Values of the element types from their definition, independent of base/dtype.
double ElementTwin(DType packed, uint32_t bits) {
  const int exponent_bits = packed == DType::kF8E4M3FNx4 ? 4 : packed == DType::kF8E5M2x4 ? 5 : 2;
  const int mantissa_bits = packed == DType::kF8E4M3FNx4 ? 3 : packed == DType::kF8E5M2x4 ? 2 : 1;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double fraction = double(bits & ((1u << mantissa_bits) - 1)) / (1 << mantissa_bits);
  const int exponent = int(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const bool negative = bits >> (mantissa_bits + exponent_bits) & 1;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return negative ? -magnitude : magnitude;
}

int BitsOf(DType packed) { return packed == DType::kF4E2M1FNx4 ? 4 : 8; }

// Element k of column c of a packed tile.
double PackedTwin(const std::vector<uint32_t>& words, DType packed, size_t index, int k) {
  const int bits = BitsOf(packed);
  return ElementTwin(packed, words[index] >> (k * bits) & ((1u << bits) - 1));
}

size_t ScaleRow(int64_t partition) { return size_t(partition / 32 * 32 + partition % 32 / 8); }

struct Quantized {
  std::vector<uint32_t> words, scales;
};

Quantized Quantize(Bench& bench, const AccessPattern& src, DType packed, int64_t scale_rows) {
  const int64_t p = src.partitions(), columns = src.free_elements() / 4;
  Tensor* dst = bench.Sbuf("dst", p, columns, packed);
  Tensor* scale = bench.Sbuf("scale", scale_rows, columns, DType::kF8E8M0);
  WriteBits(All(scale), std::vector<uint32_t>(size_t(scale_rows * columns), 0xee));
  ExpectOk(bench.Call("quantize_mx")
               .Op("dst", All(dst))
               .Op("src", src)
               .Op("dst_scale", All(scale))
               .Issue());
  return {ReadBits(All(dst)), ReadBits(All(scale))};
}

TEST(QuantizeMx, PowersOfTwoAreExactAndTheScaleIsTwiceTheSample) {
  Bench bench(Generation::kGen4);
  std::vector<float> values(32 * 4, 0.0f);
  values[0] = 64;  // the largest: floor(log2) = 6, scale 2^(6 - 7)
  values[1] = -3;
  values[4 * 8] = 0.5f;  // the second block: scale 2^(-1 - 7)
  Tensor* src = bench.Sbuf("src", 32, 4, DType::kBF16, values);
  const Quantized q = Quantize(bench, All(src), DType::kF8E4M3FNx4, 4);
  EXPECT_EQ(q.scales, (std::vector<uint32_t>{126, 119, 0, 0}));  // zeros: 2^-127
  EXPECT_EQ(PackedTwin(q.words, DType::kF8E4M3FNx4, 0, 0), 128);
  EXPECT_EQ(PackedTwin(q.words, DType::kF8E4M3FNx4, 0, 1), -6);
  EXPECT_EQ(PackedTwin(q.words, DType::kF8E4M3FNx4, 8, 0), 128);
}

TEST(QuantizeMx, LeavesTheOtherPartitionsOfTheScaleTile) {
  Bench bench(Generation::kGen4);
  Tensor* src = bench.Sbuf("src", 64, 4, DType::kF16, std::vector<float>(64 * 4, 1.0f));
  const Quantized q = Quantize(bench, All(src), DType::kF8E5M2x4, 64);
  for (size_t r = 0; r < 64; ++r) EXPECT_EQ(q.scales[r], r % 32 < 4 ? 127u - 14 : 0xeeu) << r;
}

TEST(QuantizeMx, RandomAgainstTheFormula) {
  Philox random(1, 10);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench(Generation::kGen4);
    const int64_t p = 32 * (1 + int64_t(random.NextBelow(4)));
    const int64_t columns = 1 + int64_t(random.NextBelow(6)), width = 4 * columns;
    const DType packed = trial % 2 ? DType::kF8E4M3FNx4 : DType::kF8E5M2x4;
    const int top = trial % 2 ? 8 : 15;
    const float range = std::ldexp(1.0f, int(random.NextBelow(12)) - 6);
    const AccessPattern src = RandomOperand(bench, random, Memory::kSbuf, p, width,
                                            Pick(random, {DType::kBF16, DType::kF16}),
                                            RandomFloats(random, p * width, -range, range));
    const Quantized q = Quantize(bench, src, packed, p);
    const std::vector<float> values = Bench::Read(src);
    for (int64_t r = 0; r < p; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        float largest = 0;
        for (int64_t i = 0; i < 32; ++i)
          largest = std::max(
              largest, std::fabs(values[size_t((r / 8 * 8 + i / 4) * width + c * 4 + i % 4)]));
        const int exponent = int(std::floor(std::log2(largest))) - (top - 1);
        ASSERT_EQ(int(q.scales[ScaleRow(r) * size_t(columns) + size_t(c)]), exponent + 127);
        for (int k = 0; k < 4; ++k) {
          const double value = values[size_t(r * width + c * 4 + k)];
          const double got =
              std::ldexp(PackedTwin(q.words, packed, size_t(r * columns + c), k), exponent);
          // Half a step of 3 (2) mantissa bits, or of the smallest element.
          const double step = std::max(std::fabs(value) * (trial % 2 ? 1.0 / 16 : 1.0 / 8),
                                       std::ldexp(1, exponent - (trial % 2 ? 10 : 17)));
          ASSERT_NEAR(got, value, step) << "trial " << trial;
        }
      }
    }
  }
}

TEST(QuantizeMx, Refusals) {
  Bench trn2;
  const auto call = [](Bench& bench, int64_t p, int64_t width, int64_t scale_rows) {
    Tensor* src = bench.Sbuf("src", p, width, DType::kBF16, std::vector<float>(size_t(p * width)));
    Tensor* dst = bench.Sbuf("dst", p, (width + 3) / 4, DType::kF8E4M3FNx4);
    Tensor* scale = bench.Sbuf("scale", scale_rows, (width + 3) / 4, DType::kU8);
    return bench.Call("quantize_mx")
        .Op("dst", All(dst))
        .Op("src", All(src))
        .Op("dst_scale", All(scale))
        .Issue();
  };
  ExpectRefused(call(trn2, 32, 4, 4), ErrorClass::kGeneration, "generation 4");
  Bench trn3(Generation::kGen4);
  ExpectOk(call(trn3, 64, 8, 36));
  ExpectRefused(call(trn3, 48, 4, 64), ErrorClass::kShape, "multiple of 32");
  ExpectRefused(call(trn3, 32, 6, 4), ErrorClass::kShape, "multiple of 4");
  ExpectRefused(call(trn3, 64, 4, 8), ErrorClass::kShape, "at least 36");
}

// Random packed bits without NaN or infinity.
std::vector<uint32_t> RandomPacked(Philox& random, DType packed, int64_t n) {
  std::vector<uint32_t> words(static_cast<size_t>(n));
  for (uint32_t& word : words) {
    word = 0;
    for (int k = 0; k < 4; ++k) {
      uint32_t bits = random.NextU32() & ((1u << BitsOf(packed)) - 1);
      if (packed != DType::kF4E2M1FNx4) bits &= 0xbf;  // exponents below the top half
      word |= bits << (k * BitsOf(packed));
    }
  }
  return words;
}

struct MxTile {
  AccessPattern data, scale;
};

// A tile with scales that start `start` partitions into their quadrants.
MxTile MakeTile(Bench& bench, Philox& random, DType packed, int64_t p, int64_t columns, int start) {
  MxTile tile;
  tile.data = All(bench.Sbuf("data", p, columns, packed));
  WriteBits(tile.data, RandomPacked(random, packed, p * columns));
  Tensor* scale = bench.Sbuf("scale", 128, columns, DType::kF8E8M0);
  tile.scale = Slice(scale, start, ScaleRow(p - 1) + 1, 0, columns);
  for (int64_t block = 0; block < p / 8; ++block) {  // all that is read, and nothing more
    std::vector<uint32_t> exponents;
    for (int64_t c = 0; c < columns; ++c) exponents.push_back(120 + uint32_t(random.NextBelow(8)));
    WriteBits(Slice(scale, start + int(ScaleRow(block * 8)), 1, 0, columns), exponents);
  }
  return tile;
}

std::vector<double> Dequantize(const MxTile& tile, int64_t p, int64_t columns, int k) {
  const std::vector<uint32_t> words = ReadBits(tile.data), scales = ReadBits(tile.scale);
  std::vector<double> values;
  for (int64_t r = 0; r < p; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const double scale =
          std::ldexp(1, int(scales[ScaleRow(r) * size_t(columns) + size_t(c)]) - 127);
      values.push_back(scale * PackedTwin(words, tile.data.dtype, size_t(r * columns + c), k));
    }
  }
  return values;
}

Call MatmulMx(Bench& bench, const AccessPattern& dst, const MxTile& a, const MxTile& b) {
  Call call = bench.Call("nc_matmul_mx");
  call.Op("dst", dst).Op("stationary", a.data).Op("moving", b.data);
  call.Op("stationary_scale", a.scale).Op("moving_scale", b.scale);
  return call;
}

TEST(NcMatmulMx, RandomAgainstTheSum) {
  Philox random(2, 10);
  const std::vector<DType> kinds = {DType::kF8E4M3FNx4, DType::kF8E5M2x4, DType::kF4E2M1FNx4};
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench(Generation::kGen4);
    const int64_t p = 32 * (1 + int64_t(random.NextBelow(4)));
    const int64_t m = 2 * (1 + int64_t(random.NextBelow(8))), n = 1 + int64_t(random.NextBelow(20));
    const MxTile a =
        MakeTile(bench, random, Pick(random, kinds), p, m, int(random.NextBelow(4)) * 4);
    const MxTile b =
        MakeTile(bench, random, Pick(random, kinds), p, n, int(random.NextBelow(4)) * 4);
    const DType to = Pick(random, {DType::kF32, DType::kBF16});
    Tensor* dst = bench.Psum("dst", m, n, to);
    ExpectOk(MatmulMx(bench, All(dst), a, b).Issue());
    ExpectOk(MatmulMx(bench, All(dst), a, b).Issue());  // the second one accumulates
    std::vector<float> want(static_cast<size_t>(m * n));
    std::vector<double> sums(want.size()), magnitudes(want.size());
    for (int k = 0; k < 4; ++k) {
      const std::vector<double> x = Dequantize(a, p, m, k), y = Dequantize(b, p, n, k);
      for (int64_t i = 0; i < p * m * n; ++i) {
        const int64_t r = i / (m * n), row = i / n % m, column = i % n;
        const double term = x[size_t(r * m + row)] * y[size_t(r * n + column)];
        sums[size_t(row * n + column)] += 2 * term;
        magnitudes[size_t(row * n + column)] += 2 * std::fabs(term);
      }
    }
    const std::vector<float> got = Bench::Read(dst);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], sums[i], magnitudes[i] * (to == DType::kF32 ? 1e-5 : 1e-2));
  }
}

TEST(NcMatmulMx, QuantisedIdentityGivesBackTheTile) {
  Bench bench(Generation::kGen4);
  std::vector<float> identity(32 * 128, 0.0f), values(32 * 8, 0.0f);
  for (size_t r = 0; r < 32; ++r) identity[r * 128 + r * 4] = 1;  // element 0 of pack r
  for (size_t r = 0; r < 32; ++r) values[r * 8] = float(r), values[r * 8 + 4] = -float(r);
  const auto quantized = [&](const char* name, const std::vector<float>& data) {
    const int64_t width = int64_t(data.size()) / 32;
    Tensor* src = bench.Sbuf(name, 32, width, DType::kBF16, data);
    Tensor* packed = bench.Sbuf(name, 32, width / 4, DType::kF8E4M3FNx4);
    Tensor* scale = bench.Sbuf(name, 4, width / 4, DType::kU8);
    ExpectOk(bench.Call("quantize_mx")
                 .Op("dst", All(packed))
                 .Op("src", All(src))
                 .Op("dst_scale", All(scale))
                 .Issue());
    return MxTile{All(packed), All(scale)};
  };
  Tensor* dst = bench.Psum("dst", 32, 2, DType::kF32);
  ExpectOk(
      MatmulMx(bench, All(dst), quantized("identity", identity), quantized("x", values)).Issue());
  const std::vector<float> got = Bench::Read(dst);
  for (size_t r = 0; r < 32; ++r) {
    EXPECT_NEAR(got[r * 2], float(r), float(r) / 16);
    EXPECT_EQ(got[r * 2 + 1], -got[r * 2]);
  }
}

TEST(NcMatmulMx, AccumulateTrueNeedsSomethingThere) {
  Bench bench(Generation::kGen4);
  Philox random(3, 10);
  const MxTile a = MakeTile(bench, random, DType::kF4E2M1FNx4, 32, 2, 0);
  Tensor* dst = bench.Psum("dst", 2, 2, DType::kF32);
  ExpectRefused(MatmulMx(bench, All(dst), a, a).Bool("accumulate", true).Issue(),
                ErrorClass::kAccumulate, "nc_matmul_mx: dst holds nothing yet");
  ExpectOk(MatmulMx(bench, All(dst), a, a).Issue());
  const std::vector<float> once = Bench::Read(dst);
  ExpectOk(MatmulMx(bench, All(dst), a, a).Bool("accumulate", false).Issue());
  ExpectSame(Bench::Read(dst), once);
}

TEST(NcMatmulMx, Refusals) {
  Bench bench(Generation::kGen4);
  Philox random(4, 10);
  const MxTile a = MakeTile(bench, random, DType::kF8E4M3FNx4, 64, 4, 0);
  const MxTile odd = MakeTile(bench, random, DType::kF8E4M3FNx4, 64, 3, 0);
  Tensor* dst = bench.Psum("dst", 4, 4, DType::kF32);
  ExpectRefused(MatmulMx(bench, All(dst), odd, a).Issue(), ErrorClass::kShape, "even");
  MxTile low = a;
  low.scale.start_partition = 6;
  ExpectRefused(MatmulMx(bench, All(dst), low, a).Issue(), ErrorClass::kPartitions, "partition 6");
  ExpectRefused(MatmulMx(bench, All(dst), a, a).Ints("tile_size", {64, 128}).Issue(),
                ErrorClass::kArgument, "both or neither");
  ExpectRefused(MatmulMx(bench, All(dst), a, a)
                    .Ints("tile_size", {32, 128})
                    .Ints("tile_position", {0, 0})
                    .Issue(),
                ErrorClass::kShape, "the tile 32 rows");
  ExpectOk(MatmulMx(bench, All(dst), a, a)
               .Ints("tile_size", {64, 128})
               .Ints("tile_position", {64, 0})
               .Issue());
  Tensor* narrow = bench.Psum("narrow", 4, 3, DType::kF32);
  ExpectRefused(MatmulMx(bench, All(narrow), a, a).Issue(), ErrorClass::kShape, "dst has 3");
}

}  // namespace
}  // namespace wt::chip::mx_test
