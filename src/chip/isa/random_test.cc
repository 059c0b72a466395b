#include <set>

#include "chip/isa/testing.h"

namespace wt::chip::random_test {
namespace {

std::vector<uint32_t> Rng(Bench& bench, Engine engine, int64_t partitions, int64_t elements,
                          DType dtype = DType::kU32) {
  Tensor* dst = bench.Sbuf("dst", partitions, elements, dtype);
  ExpectOk(bench.Call("rng").Op("dst", All(dst)).Name("engine", engine).Issue());
  return ReadBits(All(dst));
}

// Marsaglia's recurrence, written out once more.
struct XorwowTwin {
  uint32_t x, y, z, w, v, d;
  uint32_t Next() {
    const uint32_t t = x ^ (x >> 2);
    x = y, y = z, z = w, w = v;
    v = v ^ (v << 4) ^ t ^ (t << 1);
    d += 362437u;
    return v + d;
  }
};

TEST(Rng, GpSimdIsXorwowFromTheLoadedState) {
  Bench bench;
  Tensor* seeds = bench.Sbuf("seeds", 2, 6, DType::kU32);
  WriteBits(All(seeds),
            {1, 2, 3, 4, 5, 6, 123456789, 362436069, 521288629, 88675123, 5783321, 6615241});
  ExpectOk(bench.Call("rand_set_state").Op("src_seeds", All(seeds)).Issue());
  XorwowTwin a{1, 2, 3, 4, 5, 6};
  XorwowTwin b{123456789, 362436069, 521288629, 88675123, 5783321, 6615241};
  const std::vector<uint32_t> got = Rng(bench, Engine::kGpSimd, 2, 50);
  for (size_t i = 0; i < 50; ++i) ASSERT_EQ(got[i], a.Next());
  for (size_t i = 50; i < 100; ++i) ASSERT_EQ(got[i], b.Next());
  Tensor* state = bench.Sbuf("state", 2, 6, DType::kU32);
  ExpectOk(bench.Call("rand_get_state").Op("dst", All(state)).Issue());
  const std::vector<uint32_t> words = ReadBits(All(state));
  EXPECT_EQ(words[5], a.d);
  EXPECT_EQ(words[6], b.x);
}

TEST(Rng, NarrowTypesKeepTheLowBits) {
  for (Engine engine : {Engine::kVector, Engine::kGpSimd}) {
    Bench wide, narrow;
    const std::vector<uint32_t> a = Rng(wide, engine, 3, 20, DType::kU32);
    const std::vector<uint32_t> b = Rng(narrow, engine, 3, 20, DType::kI8);
    for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i] & 0xff, b[i]);
  }
}

TEST(Rng, LanesAndCallsDiffer) {
  Bench bench;
  std::set<uint32_t> seen;
  size_t drawn = 0;
  for (Engine engine : {Engine::kVector, Engine::kGpSimd}) {
    for (int call = 0; call < 2; ++call) {
      const std::vector<uint32_t> bits = Rng(bench, engine, 128, 16);
      seen.insert(bits.begin(), bits.end());
      drawn += bits.size();
    }
  }
  EXPECT_GT(seen.size(), drawn - 10);  // chance repeats are rare
}

TEST(Rng, EveryBitIsFair) {
  Bench bench;
  for (Engine engine : {Engine::kVector, Engine::kGpSimd}) {
    const std::vector<uint32_t> bits = Rng(bench, engine, 128, 256);
    for (int bit = 0; bit < 32; ++bit) {
      int64_t ones = 0;
      for (uint32_t word : bits) ones += word >> bit & 1;
      EXPECT_NEAR(double(ones) / double(bits.size()), 0.5, 0.02) << EngineName(engine) << bit;
    }
  }
}

TEST(Rng, RefusesFloats) {
  Bench bench;
  Tensor* dst = bench.Sbuf("dst", 1, 4, DType::kF32);
  ExpectRefused(bench.Call("rng").Op("dst", All(dst)).Issue(), ErrorClass::kDtype, "dst is f32");
  Bench old(Generation::kGen2);
  Tensor* bits = old.Sbuf("bits", 1, 4, DType::kU32);
  ExpectRefused(old.Call("rng").Op("dst", All(bits)).Name("engine", Engine::kGpSimd).Issue(),
                ErrorClass::kGeneration, "use engine vector");
}

TEST(SetRngSeed, SameSeedSameNumbers) {
  Bench bench;
  const auto seeded = [&](uint32_t seed) {
    Tensor* s = bench.Sbuf("seed", 1, 1, DType::kU32);
    WriteBits(All(s), {seed});
    ExpectOk(bench.Call("set_rng_seed").Op("src_seeds", All(s)).Issue());
    return Rng(bench, Engine::kVector, 4, 8);
  };
  const std::vector<uint32_t> first = seeded(7);
  EXPECT_EQ(seeded(7), first);
  EXPECT_NE(seeded(8), first);
  EXPECT_NE(Rng(bench, Engine::kVector, 4, 8), first);
}

TEST(SetRngSeed, RefusesMoreThanOneSeed) {
  Bench bench;
  Tensor* s = bench.Sbuf("seed", 2, 1, DType::kU32, {1, 2});
  ExpectRefused(bench.Call("set_rng_seed").Op("src_seeds", All(s)).Issue(), ErrorClass::kShape,
                "2 partitions");
}

TEST(RandState, LanesAreThoseOfThePartitions) {
  Bench bench;
  Tensor* seeds = bench.Sbuf("seeds", 64, 6, DType::kU32);
  WriteBits(Slice(seeds, 32, 1, 0, 6), {9, 8, 7, 6, 5, 4});
  ExpectOk(bench.Call("rand_set_state").Op("src_seeds", Slice(seeds, 32, 1, 0, 6)).Issue());
  Tensor* state = bench.Sbuf("state", 128, 6, DType::kU32);
  ExpectOk(bench.Call("rand_get_state").Op("dst", All(state)).Issue());
  EXPECT_EQ(ReadBits(Slice(state, 32, 1, 0, 6)), (std::vector<uint32_t>{9, 8, 7, 6, 5, 4}));
  EXPECT_NE(ReadBits(Slice(state, 0, 1, 0, 6)), (std::vector<uint32_t>{9, 8, 7, 6, 5, 4}));
}

TEST(RandState, AnAddressedTensorHasTheLanesOfItsPartitions) {
  Bench bench;
  TensorSpec spec;
  spec.dtype = DType::kU32;
  spec.partitions = 32;
  spec.partition_bytes = 24;
  spec.address = Address{.partition = 96, .byte = 0};
  Result<Tensor*> low = bench.core().Allocate(spec);
  ASSERT_TRUE(low.ok()) << low.status().message();
  Tensor* state = bench.Sbuf("state", 128, 6, DType::kU32);
  ExpectOk(bench.Call("rand_get_state").Op("dst", All(state)).Issue());
  ExpectOk(bench.Call("rand_get_state").Op("dst", All(*low)).Issue());
  EXPECT_EQ(ReadBits(All(*low)), ReadBits(Slice(state, 96, 32, 0, 6)));
}

TEST(RandState, RoundTripRepeatsTheNumbers) {
  Bench bench;
  Tensor* state = bench.Sbuf("state", 128, 6, DType::kU32);
  ExpectOk(bench.Call("rand_get_state").Op("dst", All(state)).Issue());
  const std::vector<uint32_t> first = Rng(bench, Engine::kGpSimd, 128, 4);
  ExpectOk(bench.Call("rand_set_state").Op("src_seeds", All(state)).Issue());
  EXPECT_EQ(Rng(bench, Engine::kGpSimd, 128, 4), first);
}

TEST(RandState, VectorStateIsOfGeneration4) {
  Bench bench(Generation::kGen4);
  Tensor* state = bench.Sbuf("state", 128, 24, DType::kU32);
  ExpectOk(
      bench.Call("rand_get_state").Op("dst", All(state)).Name("engine", Engine::kVector).Issue());
  const std::vector<uint32_t> words = ReadBits(All(state));
  XorwowTwin twins[4];
  for (size_t k = 0; k < 4; ++k) std::memcpy(&twins[k], &words[k * 6], sizeof twins[k]);
  const std::vector<uint32_t> got = Rng(bench, Engine::kVector, 1, 9);
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], twins[i % 4].Next());
  Bench trn2;
  Tensor* small = trn2.Sbuf("state", 128, 24, DType::kU32);
  ExpectRefused(
      trn2.Call("rand_get_state").Op("dst", All(small)).Name("engine", Engine::kVector).Issue(),
      ErrorClass::kGeneration, "use engine gpsimd");
}

TEST(RandState, RefusesAnotherCountOfWords) {
  Bench bench;
  Tensor* seeds = bench.Sbuf("seeds", 1, 4, DType::kU32, {1, 2, 3, 4});
  ExpectRefused(bench.Call("rand_set_state").Op("src_seeds", All(seeds)).Issue(),
                ErrorClass::kShape, "expected 6");
  Tensor* dst = bench.Sbuf("dst", 1, 24, DType::kU32);
  ExpectRefused(bench.Call("rand_get_state").Op("dst", All(dst)).Issue(), ErrorClass::kShape,
                "expected 6");
}

TEST(Dropout, ProbabilityZeroAndOne) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 3, DType::kBF16, {1, 2, 3, 4, 5, 6});
  Tensor* prob = bench.Sbuf("prob", 2, 1, DType::kF32, {0, 1});
  Tensor* dst = bench.Sbuf("dst", 2, 3, DType::kBF16);
  ExpectOk(
      bench.Call("dropout").Op("dst", All(dst)).Op("data", All(x)).Op("prob", All(prob)).Issue());
  ExpectSame(Bench::Read(dst), {1, 2, 3, 0, 0, 0});
}

TEST(Dropout, KeepsTheRestUnscaledAndDropsTheShareAsked) {
  Bench bench;
  Philox random(1, 7);
  Tensor* x = bench.Sbuf("x", 128, 256, DType::kF32, RandomFloats(random, 128 * 256, 1, 2));
  Tensor* dst = bench.Sbuf("dst", 128, 256, DType::kF32);
  ExpectOk(
      bench.Call("dropout").Op("dst", All(dst)).Op("data", All(x)).Float("prob", 0.25).Issue());
  const std::vector<float> from = Bench::Read(x), to = Bench::Read(dst);
  int64_t dropped = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0) {
      ++dropped;
    } else {
      ASSERT_EQ(to[i], from[i]);
    }
  }
  EXPECT_NEAR(double(dropped) / double(to.size()), 0.25, 0.01);
}

// Against the same numbers drawn by rng from the same seed.
TEST(Dropout, DropsWhereTheUniformNumberIsBelow) {
  Bench bench, twin;
  const std::vector<uint32_t> bits = Rng(twin, Engine::kVector, 8, 20);
  Tensor* x = bench.Sbuf("x", 8, 20, DType::kI32, std::vector<float>(160, 3.0f));
  ExpectOk(bench.Call("dropout").Op("dst", All(x)).Op("data", All(x)).Float("prob", 0.5).Issue());
  const std::vector<float> got = Bench::Read(x);
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], bits[i] < 0x80000000u ? 0 : 3);
}

TEST(Dropout, Refusals) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 2, DType::kI32, {1, 2});
  Tensor* prob = bench.Sbuf("prob", 1, 1, DType::kBF16, {0});
  Tensor* y = bench.Sbuf("y", 1, 2, DType::kF32);
  ExpectRefused(
      bench.Call("dropout").Op("dst", All(x)).Op("data", All(x)).Op("prob", All(prob)).Issue(),
      ErrorClass::kDtype, "expected f32");
  ExpectRefused(bench.Call("dropout").Op("dst", All(y)).Op("data", All(x)).Float("prob", 0).Issue(),
                ErrorClass::kDtype, "data is i32");
}

TEST(Rand2, UniformBetweenTheBounds) {
  Bench bench(Generation::kGen4);
  Tensor* dst = bench.Sbuf("dst", 128, 256, DType::kF32);
  ExpectOk(bench.Call("rand2").Op("dst", All(dst)).Float("min", -2).Float("max", 6).Issue());
  double sum = 0, squares = 0;
  for (float value : Bench::Read(dst)) {
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 6);
    sum += value, squares += value * value;
  }
  const double n = 128 * 256, mean = sum / n;
  EXPECT_NEAR(mean, 2, 0.05);
  EXPECT_NEAR(squares / n - mean * mean, 64.0 / 12, 0.1);
}

TEST(Rand2, BoundsByPartitionAndConversion) {
  Bench bench(Generation::kGen4);
  Tensor* low = bench.Sbuf("low", 2, 1, DType::kF32, {10, 100});
  Tensor* high = bench.Sbuf("high", 2, 1, DType::kF32, {11, 120});
  Tensor* dst = bench.Psum("dst", 2, 64, DType::kI16);
  ExpectOk(
      bench.Call("rand2").Op("dst", All(dst)).Op("min", All(low)).Op("max", All(high)).Issue());
  const std::vector<float> got = Bench::Read(dst);
  for (size_t i = 0; i < 64; ++i) ASSERT_TRUE(got[i] == 10 || got[i] == 11);
  for (size_t i = 64; i < 128; ++i) ASSERT_TRUE(got[i] >= 100 && got[i] <= 120);
}

TEST(Rand2, RefusedBeforeGeneration4AndWithoutRoom) {
  Bench trn2;
  Tensor* dst = trn2.Sbuf("dst", 1, 4, DType::kF32);
  ExpectRefused(trn2.Call("rand2").Op("dst", All(dst)).Float("min", 0).Float("max", 1).Issue(),
                ErrorClass::kGeneration, "generation 4");
  Bench trn3(Generation::kGen4);
  Tensor* other = trn3.Sbuf("dst", 1, 4, DType::kF32);
  ExpectRefused(trn3.Call("rand2").Op("dst", All(other)).Float("min", 1).Float("max", 1).Issue(),
                ErrorClass::kArgument, "min < max");
}

}  // namespace
}  // namespace wt::chip::random_test
