#include "chip/isa/testing.h"

namespace wt::chip::matmul_test {
namespace {

Call Matmul(Bench& bench, const AccessPattern& dst, const AccessPattern& stationary,
            const AccessPattern& moving) {
  Call call = bench.Call("nc_matmul");
  call.Op("dst", dst).Op("stationary", stationary).Op("moving", moving);
  return call;
}

// a[k, m]^T b[k, n] in double.
std::vector<float> Product(const std::vector<float>& a, const std::vector<float>& b, int64_t k,
                           int64_t m, int64_t n) {
  std::vector<float> c;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t t = 0; t < k; ++t) sum += double(a[size_t(t * m + i)]) * b[size_t(t * n + j)];
      c.push_back(static_cast<float>(sum));
    }
  }
  return c;
}

TEST(NcMatmul, SmallAndByHand) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 2, 2, DType::kBF16, {1, 2, 3, 4});
  Tensor* b = bench.Sbuf("b", 2, 3, DType::kF16, {1, 0, 2, 0, 1, 3});
  Tensor* c = bench.Psum("c", 2, 3, DType::kF32);
  ExpectOk(Matmul(bench, All(c), All(a), All(b)).Issue());
  ExpectSame(Bench::Read(c), {1, 3, 11, 2, 4, 16});
}

TEST(NcMatmul, RandomShapesTypesAndLayouts) {
  const std::vector<DType> narrow = {DType::kBF16, DType::kF16, DType::kF8E4M3, DType::kF8E5M2};
  const std::vector<DType> wide = {DType::kF32, DType::kTF32};
  Philox random(81, 0);
  for (int trial = 0; trial < 2 * kTrials; ++trial) {
    Bench bench;
    const int64_t k = 1 + int64_t(random.NextBelow(128)), m = 1 + int64_t(random.NextBelow(128));
    const int64_t n = 1 + int64_t(random.NextBelow(200));
    const auto& types = random.NextBelow(3) ? narrow : wide;
    const DType ta = Pick(random, types), tb = Pick(random, types);
    const std::vector<float> a = AsStored(ta, RandomFloats(random, k * m, -1, 1));
    const std::vector<float> b = AsStored(tb, RandomFloats(random, k * n, -1, 1));
    const AccessPattern dst = RandomOperand(bench, random, Memory::kPsum, m, n, DType::kF32);
    const Status status =
        Matmul(bench, dst, RandomOperand(bench, random, Memory::kSbuf, k, m, ta, a),
               RandomOperand(bench, random, Memory::kSbuf, k, n, tb, b))
            .Issue();
    if (ClassOf(status) == ErrorClass::kFreeSize) continue;  // dst lies across two banks
    ExpectOk(status);
    ExpectNear(Bench::Read(dst), Product(a, b, k, m, n), 2e-5f);
  }
}

TEST(NcMatmul, AccumulatesByFlag) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 1, 1, DType::kF32, {3});
  Tensor* c = bench.Psum("c", 1, 1, DType::kF32);
  const auto run = [&](std::optional<bool> accumulate) {
    Call call = Matmul(bench, All(c), All(a), All(a));
    if (accumulate) call.Bool("accumulate", *accumulate);
    return call.Issue();
  };
  ExpectRefused(run(true), ErrorClass::kAccumulate, "nothing yet");
  ExpectOk(run({}));  // the first overwrites
  ExpectSame(Bench::Read(c), {9});
  ExpectOk(run({}));  // the next one adds
  ExpectSame(Bench::Read(c), {18});
  ExpectOk(run(true));
  ExpectSame(Bench::Read(c), {27});
  ExpectOk(run(false));
  ExpectSame(Bench::Read(c), {9});
}

TEST(NcMatmul, AddingToWhatOthersWroteIsUndefined) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 1, 2, DType::kF32, {3, 1});
  Tensor* c = bench.Psum("c", 1, 2, DType::kF32);
  const auto fill = [&](float value) {
    ExpectOk(bench.Call("memset").Op("dst", All(c)).Float("value", value).Issue());
  };
  const AccessPattern one = Slice(a, 0, 1, 0, 1);
  fill(1);
  ExpectRefused(Matmul(bench, All(c), one, All(a)).Issue(), ErrorClass::kAccumulate,
                "another instruction");
  fill(0);
  ExpectRefused(Matmul(bench, All(c), one, All(a)).Bool("accumulate", true).Issue(),
                ErrorClass::kAccumulate, "another instruction");
  ExpectOk(Matmul(bench, All(c), one, All(a)).Issue());  // over zeros: as if it overwrote
  ExpectSame(Bench::Read(c), {9, 3});
  ExpectOk(bench.Call("memset").Op("dst", Slice(c, 0, 1, 0, 1)).Float("value", 0).Issue());
  ExpectRefused(Matmul(bench, All(c), one, All(a)).Issue(), ErrorClass::kAccumulate,
                "one part only");
}

TEST(NcMatmul, Generation4AccumulatesOnAnythingAndInBf16) {
  Bench bench(Generation::kGen4);
  Tensor* a = bench.Sbuf("a", 1, 1, DType::kF8E4M3FN, {16});
  Tensor* c = bench.Psum("c", 1, 1, DType::kBF16, {1});
  ExpectOk(Matmul(bench, All(c), All(a), All(a)).Bool("accumulate", true).Issue());
  ExpectSame(Bench::Read(c), AsStored(DType::kBF16, {257}));
}

TEST(NcMatmul, DoubleRowContractsTwoRowsAPartition) {
  Philox random(82, 0);
  for (int trial = 0; trial < 20; ++trial) {
    Bench bench;
    const int64_t k = 1 + int64_t(random.NextBelow(128)), m = 1 + int64_t(random.NextBelow(64)),
                  n = 1 + int64_t(random.NextBelow(64));
    const std::vector<float> a = AsStored(DType::kF8E4M3, RandomFloats(random, 2 * k * m, -1, 1));
    const std::vector<float> b = AsStored(DType::kF8E5M2, RandomFloats(random, 2 * k * n, -1, 1));
    Tensor* left = bench.Sbuf("left", k, 2 * m, DType::kF8E4M3, a);
    Tensor* right = bench.Sbuf("right", k, 2 * n, DType::kF8E5M2, b);
    Tensor* c = bench.Psum("c", m, n, DType::kF32);
    ExpectOk(Matmul(bench, All(c), Pattern(left, DType::kF8E4M3, {k, 2, m}),
                    Pattern(right, DType::kF8E5M2, {k, 2, n}))
                 .Name("perf_mode", PerfMode::kDoubleRow)
                 .Issue());
    ExpectNear(Bench::Read(c), Product(a, b, 2 * k, m, n), 2e-5f);
  }
}

std::vector<float> Identity(int64_t n) {
  std::vector<float> values(size_t(n * n));
  for (int64_t i = 0; i < n; ++i) values[size_t(i * n + i)] = 1;
  return values;
}

TEST(NcMatmul, TransposeModeMovesBits) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 3, 2, DType::kBF16);
  const std::vector<uint32_t> bits = {0x7fc1, 0x7f80, 0x8000, 0x0001, 0x3f80, 0xff81};
  WriteBits(All(a), bits);
  Tensor* one = bench.Sbuf("one", 3, 3, DType::kBF16, Identity(3));
  Tensor* c = bench.Psum("c", 2, 3, DType::kBF16);
  ExpectOk(Matmul(bench, All(c), All(a), All(one)).Bool("is_transpose", true).Issue());
  EXPECT_EQ(ReadBits(All(c)),
            (std::vector<uint32_t>{0x7fc1, 0x8000, 0x3f80, 0x7f80, 0x0001, 0xff81}));
}

TEST(NcMatmul, TransposeModeWidensEightBits) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 1, 2, DType::kF8E4M3);
  WriteBits(All(a), {0x38, 0xff});
  Tensor* one = bench.Sbuf("one", 1, 1, DType::kF8E4M3, {1});
  Tensor* c = bench.Psum("c", 2, 1, DType::kU16);
  ExpectOk(Matmul(bench, All(c), All(a), All(one)).Bool("is_transpose", true).Issue());
  EXPECT_EQ(ReadBits(All(c)), (std::vector<uint32_t>{0x38, 0xff}));
}

TEST(NcMatmul, TransposeModeTakesPermutationsOnly) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 2, 2, DType::kF32, {1, 2, 3, 4});
  Tensor* swap = bench.Sbuf("swap", 2, 2, DType::kF32, {0, 1, 1, 0});
  Tensor* sum = bench.Sbuf("sum", 2, 2, DType::kF32, {1, 1, 1, 1});
  Tensor* c = bench.Psum("c", 2, 2, DType::kF32);
  ExpectOk(Matmul(bench, All(c), All(a), All(swap)).Bool("is_transpose", true).Issue());
  ExpectSame(Bench::Read(c), {3, 1, 4, 2});
  ExpectRefused(Matmul(bench, All(c), All(a), All(sum)).Bool("is_transpose", true).Issue(),
                ErrorClass::kUndefined, "identity");
}

TEST(NcMatmul, Tiles) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 32, 32, DType::kBF16, std::vector<float>(1024, 1));
  Tensor* c = bench.Psum("c", 32, 32, DType::kF32);
  const auto run = [&](std::vector<int64_t> position, std::vector<int64_t> size) {
    Call call = Matmul(bench, All(c), All(a), All(a));
    if (!position.empty()) call.Ints("tile_position", position);
    if (!size.empty()) call.Ints("tile_size", size);
    return call.Issue();
  };
  ExpectOk(run({96, 0}, {32, 128}));
  ExpectOk(run({}, {}));
  ExpectRefused(run({96, 0}, {}), ErrorClass::kArgument, "both left out");
  ExpectRefused(run({16, 0}, {32, 128}), ErrorClass::kArgument, "multiple of 32");
  ExpectRefused(run({0, 0}, {48, 128}), ErrorClass::kArgument, "48 rows");
  Tensor* tall = bench.Sbuf("tall", 64, 32, DType::kBF16, std::vector<float>(2048, 1));
  ExpectRefused(Matmul(bench, All(c), All(tall), All(tall))
                    .Ints("tile_position", {0, 0})
                    .Ints("tile_size", {32, 128})
                    .Issue(),
                ErrorClass::kFreeSize, "[32, 128]");
}

TEST(NcMatmul, Refusals) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 64, 64, DType::kBF16, std::vector<float>(4096, 1));
  Tensor* f = bench.Sbuf("f", 64, 64, DType::kF32, std::vector<float>(4096, 1));
  Tensor* fn = bench.Sbuf("fn", 64, 64, DType::kF8E4M3FN, std::vector<float>(4096, 1));
  Tensor* c = bench.Psum("c", 64, 64, DType::kF32);
  Tensor* half = bench.Psum("half", 64, 64, DType::kBF16);
  Tensor* wide = bench.Psum("wide", 64, 1024, DType::kF32);
  ExpectRefused(Matmul(bench, All(c), All(a), All(f)).Issue(), ErrorClass::kDtype, "do not mix");
  ExpectRefused(Matmul(bench, All(c), All(fn), All(a)).Issue(), ErrorClass::kGeneration,
                "f8e4m3fn");
  ExpectRefused(Matmul(bench, All(half), All(a), All(a)).Issue(), ErrorClass::kDtype, "f32");
  ExpectRefused(Matmul(bench, All(f), All(a), All(a)).Issue(), ErrorClass::kMemory,
                "dst is in sbuf");
  ExpectRefused(Matmul(bench, All(c), All(c), All(a)).Issue(), ErrorClass::kMemory,
                "stationary is in psum");
  ExpectRefused(Matmul(bench, Slice(wide, 0, 64, 480, 64), All(a), All(a)).Issue(),
                ErrorClass::kFreeSize, "two PSUM banks");
  ExpectRefused(Matmul(bench, Slice(c, 0, 64, 0, 63), All(a), All(a)).Issue(), ErrorClass::kShape,
                "make [64, 64]");
  ExpectRefused(Matmul(bench, Slice(c, 0, 64, 0, 64), Slice(a, 0, 32, 0, 64), All(a)).Issue(),
                ErrorClass::kShape, "contracted");
  ExpectRefused(
      Matmul(bench, All(c), All(a), All(a)).Name("perf_mode", PerfMode::kDoubleRow).Issue(),
      ErrorClass::kDtype, "double_row");
  Tensor* long_one = bench.Sbuf("long", 64, 600, DType::kBF16, std::vector<float>(64 * 600, 1));
  ExpectRefused(Matmul(bench, Slice(wide, 0, 64, 0, 600), All(a), All(long_one)).Issue(),
                ErrorClass::kFreeSize, "600 columns");
}

}  // namespace
}  // namespace wt::chip::matmul_test
