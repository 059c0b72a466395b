#include "chip/isa/testing.h"

namespace wt::chip::partition_moves_test {
namespace {

std::vector<int64_t> Rotation() {
  std::vector<int64_t> mask;
  for (int64_t i = 0; i < 32; ++i) mask.push_back((i + 31) % 32);
  return mask;
}

Status Shuffle(Bench& bench, const AccessPattern& dst, const AccessPattern& src,
               const std::vector<int64_t>& mask) {
  return bench.Call("nc_stream_shuffle")
      .Op("dst", dst)
      .Op("src", src)
      .Ints("shuffle_mask", mask)
      .Issue();
}

TEST(NcStreamShuffle, RotatesInPlaceInEveryQuadrant) {
  Bench bench;
  std::vector<float> values(64 * 2);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  Tensor* x = bench.Sbuf("x", 64, 2, DType::kF32, values);
  ExpectOk(Shuffle(bench, All(x), All(x), Rotation()));
  const std::vector<float> got = Bench::Read(x);
  EXPECT_EQ(got[0], 62);       // partition 0 from 31
  EXPECT_EQ(got[2], 0);        // 1 from 0
  EXPECT_EQ(got[64], 63 * 2);  // 32 from 63
}

TEST(NcStreamShuffle, BroadcastsOnePartition) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 1, 2, DType::kBF16, {5, 6});
  Tensor* dst = bench.Sbuf("dst", 32, 2, DType::kBF16);
  ExpectOk(Shuffle(bench, All(dst), All(src), std::vector<int64_t>(32, 0)));
  const std::vector<float> got = Bench::Read(dst);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i % 2 ? 6 : 5);
}

TEST(NcStreamShuffle, MarkOf255LeavesPartitionsUnwritten) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 32, 1, DType::kF32, std::vector<float>(32, 3.0f));
  Tensor* dst = bench.Sbuf("dst", 32, 1, DType::kF32);
  std::vector<int64_t> mask(32, 255);
  mask[4] = 4;
  ExpectOk(Shuffle(bench, All(dst), All(src), mask));
  EXPECT_EQ(Bench::Read(Slice(dst, 4, 1, 0, 1)), std::vector<float>{3});
  Tensor* copy = bench.Sbuf("copy", 32, 1, DType::kF32);
  ExpectRefused(bench.Call("tensor_copy").Op("dst", All(copy)).Op("src", All(dst)).Issue(),
                ErrorClass::kUninitialized, "partition 0");
}

TEST(NcStreamShuffle, RandomAgainstTwin) {
  Philox random(1, 4);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 32 * (1 + int64_t(random.NextBelow(4))),
                  n = 1 + int64_t(random.NextBelow(40));
    const DType dtype = Pick(random, {DType::kF32, DType::kBF16, DType::kI8});
    const Memory memory = trial % 2 ? Memory::kPsum : Memory::kSbuf;
    const AccessPattern src =
        RandomOperand(bench, random, memory, p, n, dtype, RandomFloats(random, p * n, -100, 100));
    const AccessPattern dst = RandomOperand(bench, random, Memory::kSbuf, p, n, dtype,
                                            RandomFloats(random, p * n, -100, 100));
    std::vector<int64_t> mask;
    for (int i = 0; i < 32; ++i)
      mask.push_back(random.NextBelow(4) ? int64_t(random.NextBelow(32)) : 255);
    std::vector<float> want = Bench::Read(dst);
    const std::vector<float> from = Bench::Read(src);
    for (int64_t r = 0; r < p; ++r) {
      if (mask[size_t(r % 32)] == 255) continue;
      for (int64_t i = 0; i < n; ++i)
        want[size_t(r * n + i)] = from[size_t((r / 32 * 32 + mask[size_t(r % 32)]) * n + i)];
    }
    ExpectOk(Shuffle(bench, dst, src, mask));
    ExpectSame(Bench::Read(dst), want);
  }
}

TEST(NcStreamShuffle, Refusals) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 128, 1, DType::kF32, std::vector<float>(128, 1.0f));
  Tensor* y = bench.Sbuf("y", 128, 1, DType::kF32);
  ExpectRefused(Shuffle(bench, All(y), All(x), {0, 1}), ErrorClass::kArgument, "2 entries");
  ExpectRefused(Shuffle(bench, All(y), All(x), std::vector<int64_t>(32, 40)), ErrorClass::kArgument,
                "holds 40");
  ExpectRefused(
      Shuffle(bench, Slice(y, 0, 33, 0, 1), Slice(x, 0, 32, 0, 1), std::vector<int64_t>(32, 0)),
      ErrorClass::kOutOfBounds, "copies partition 32");
  ExpectRefused(Shuffle(bench, Slice(y, 32, 32, 0, 1), Slice(x, 32, 40, 0, 1), Rotation()),
                ErrorClass::kPartitions, "partition 32");
}

Status PartitionReduce(Bench& bench, const AccessPattern& dst, const AccessPattern& data,
                       AluOp op) {
  return bench.Call("tensor_partition_reduce")
      .Op("dst", dst)
      .Op("data", data)
      .Name("op", op)
      .Issue();
}

TEST(TensorPartitionReduce, SumAverageMaximum) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 3, 2, DType::kF32, {1, -2, 3, -4, 5, -6});
  Tensor* y = bench.Sbuf("y", 1, 2, DType::kF32);
  ExpectOk(PartitionReduce(bench, All(y), All(x), AluOp::kAdd));
  ExpectSame(Bench::Read(y), {9, -12});
  ExpectOk(PartitionReduce(bench, All(y), All(x), AluOp::kAverage));
  ExpectSame(Bench::Read(y), {3, -4});
  ExpectOk(PartitionReduce(bench, All(y), All(x), AluOp::kMaximum));
  ExpectSame(Bench::Read(y), {5, -2});
}

TEST(TensorPartitionReduce, BitwiseOnIntegers) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 1, DType::kU8, {12, 10});
  Tensor* y = bench.Sbuf("y", 1, 1, DType::kU8);
  ExpectOk(PartitionReduce(bench, All(y), All(x), AluOp::kBitwiseAnd));
  ExpectSame(Bench::Read(y), {8});
  ExpectOk(PartitionReduce(bench, All(y), All(x), AluOp::kBitwiseOr));
  ExpectSame(Bench::Read(y), {14});
}

TEST(TensorPartitionReduce, RandomAgainstTwin) {
  Philox random(2, 4);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(60));
    const AccessPattern x =
        RandomOperand(bench, random, Memory::kSbuf, p, n, DType::kF32, RandomFloats(random, p * n));
    const AccessPattern y = RandomOperand(bench, random, Memory::kSbuf, 1, n, DType::kF32);
    const AluOp op = trial % 3 == 0   ? AluOp::kAdd
                     : trial % 3 == 1 ? AluOp::kAverage
                                      : AluOp::kMaximum;
    ExpectOk(PartitionReduce(bench, y, x, op));
    const std::vector<float> values = Bench::Read(x);
    std::vector<float> want;
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0, most = -INFINITY;
      for (int64_t r = 0; r < p; ++r) {
        sum += values[size_t(r * n + i)];
        most = std::max(most, double(values[size_t(r * n + i)]));
      }
      want.push_back(float(op == AluOp::kMaximum ? most
                           : op == AluOp::kAdd   ? sum
                                                 : sum / double(p)));
    }
    ExpectNear(Bench::Read(y), want, 1e-4f);
  }
}

TEST(TensorPartitionReduce, Refusals) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 1, DType::kF32, {12, 10});
  Tensor* y = bench.Sbuf("y", 1, 1, DType::kF32);
  ExpectRefused(PartitionReduce(bench, All(y), All(x), AluOp::kMultiply), ErrorClass::kArgument,
                "op is multiply");
  ExpectRefused(PartitionReduce(bench, All(y), All(x), AluOp::kBitwiseOr), ErrorClass::kDtype,
                "integers");
  ExpectRefused(PartitionReduce(bench, All(x), All(x), AluOp::kAdd), ErrorClass::kShape,
                "2 partitions");
}

}  // namespace
}  // namespace wt::chip::partition_moves_test
