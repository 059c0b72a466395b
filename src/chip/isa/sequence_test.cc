#include <algorithm>

#include "chip/isa/testing.h"

namespace wt::chip::sequence_test {
namespace {

Status Bounds(Bench& bench, const AccessPattern& dst, const AccessPattern& ids) {
  return bench.Call("sequence_bounds").Op("dst", dst).Op("segment_ids", ids).Issue();
}

TEST(SequenceBounds, RunsAndPadding) {
  Bench bench;
  Tensor* ids = bench.Sbuf("ids", 1, 9, DType::kI32, {0, 1, 1, 2, 2, 2, 0, 3, 3});
  Tensor* dst = bench.Sbuf("dst", 1, 18, DType::kI32);
  ExpectOk(Bounds(bench, Pattern(dst, DType::kI32, {1, 2, 9}), All(ids)));
  ExpectSame(Bench::Read(dst), {9, 1, 1, 3, 3, 3, 9, 7, 7, -1, 3, 3, 6, 6, 6, -1, 9, 9});
}

TEST(SequenceBounds, AnIdThatComesBackIsAnotherSegment) {
  Bench bench;
  Tensor* ids = bench.Sbuf("ids", 1, 4, DType::kF32, {5, 5, 4, 5});
  Tensor* dst = bench.Sbuf("dst", 1, 8, DType::kF32);
  ExpectOk(Bounds(bench, All(dst), All(ids)));
  ExpectSame(Bench::Read(dst), {0, 0, 2, 3, 2, 2, 3, 4});
}

// Starts in one sweep forward, ends in one sweep back.
TEST(SequenceBounds, RandomAgainstSweeps) {
  Philox random(1, 5);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t n = 1 + int64_t(random.NextBelow(80));
    const std::vector<float> ids = RandomWhole(random, n, 0, 3);
    const DType dtype = Pick(random, {DType::kI32, DType::kF32});
    const AccessPattern src = RandomOperand(bench, random, Memory::kSbuf, 1, n, dtype, ids);
    const AccessPattern dst =
        RandomOperand(bench, random, Memory::kSbuf, 1, 2 * n, Pick(random, {DType::kF32}));
    ExpectOk(Bounds(bench, dst, src));
    std::vector<float> want(size_t(2 * n));
    for (int64_t i = 0; i < n; ++i) {
      const bool same = i > 0 && ids[size_t(i)] == ids[size_t(i - 1)];
      want[size_t(i)] = ids[size_t(i)] == 0 ? float(n) : same ? want[size_t(i - 1)] : float(i);
    }
    for (int64_t i = n - 1; i >= 0; --i) {
      const bool same = i + 1 < n && ids[size_t(i)] == ids[size_t(i + 1)];
      want[size_t(n + i)] = ids[size_t(i)] == 0 ? -1
                            : same              ? want[size_t(n + i + 1)]
                                                : float(i + 1);
    }
    ExpectSame(Bench::Read(dst), want);
  }
}

TEST(SequenceBounds, RefusesTwoPartitions) {
  Bench bench;
  Tensor* ids = bench.Sbuf("ids", 2, 2, DType::kI32, {1, 1, 1, 1});
  Tensor* dst = bench.Sbuf("dst", 2, 4, DType::kI32);
  ExpectRefused(Bounds(bench, All(dst), All(ids)), ErrorClass::kShape, "2 partitions");
}

Call Nonzero(Bench& bench, const AccessPattern& dst, const AccessPattern& src) {
  Call call = bench.Call("nonzero_with_count");
  call.Op("dst", dst).Op("src", src);
  return call;
}

TEST(NonzeroWithCount, IndicesPaddingAndCount) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 1, 8, DType::kF32, {0, 1, 1, 0, 0, 1, 0, 0});
  Tensor* dst = bench.Sbuf("dst", 1, 9, DType::kI32);
  ExpectOk(
      Nonzero(bench, All(dst), All(src)).Int("index_offset", 16).Int("padding_val", -1).Issue());
  ExpectSame(Bench::Read(dst), {17, 18, 21, -1, -1, -1, -1, -1, 3});
}

TEST(NonzeroWithCount, TouchesEverySixteenthPartitionAlone) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 32, 2, DType::kI32);  // the other partitions stay undefined
  WriteBits(Slice(src, 0, 1, 0, 2), {7, 0});
  WriteBits(Slice(src, 16, 1, 0, 2), {0, 0});
  Tensor* dst = bench.Sbuf("dst", 32, 3, DType::kI32, std::vector<float>(96, -99.0f));
  ExpectOk(Nonzero(bench, All(dst), All(src)).Issue());
  const std::vector<float> got = Bench::Read(dst);
  ExpectSame({got.begin(), got.begin() + 6}, {0, -1, 1, -99, -99, -99});
  ExpectSame({got.begin() + 48, got.begin() + 54}, {-1, -1, 0, -99, -99, -99});
}

TEST(NonzeroWithCount, UndefinedPartitionsInBetweenCountAsPadding) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 2, 1, DType::kI32, {5, 0});
  Tensor* dst = bench.Sbuf("dst", 2, 2, DType::kI32);
  ExpectOk(Nonzero(bench, All(dst), All(src)).Int("padding_val", -7).Issue());
  ExpectSame(Bench::Read(dst), {0, 1, -7, -7});
}

TEST(NonzeroWithCount, ReadsOfTheSixteenthAreChecked) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 32, 2, DType::kI32);
  WriteBits(Slice(src, 0, 1, 0, 2), {7, 0});
  Tensor* dst = bench.Sbuf("dst", 32, 3, DType::kI32);
  ExpectRefused(Nonzero(bench, All(dst), All(src)).Issue(), ErrorClass::kUninitialized,
                "partition 16");
}

TEST(NonzeroWithCount, RandomAgainstTwin) {
  Philox random(2, 5);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(60));
    const AccessPattern src =
        RandomOperand(bench, random, Memory::kSbuf, p, n, Pick(random, {DType::kI32, DType::kF32}),
                      RandomWhole(random, p * n, -1, 1));
    const AccessPattern dst = RandomOperand(bench, random, Memory::kSbuf, p, n + 1, DType::kI32,
                                            std::vector<float>(size_t(p * (n + 1)), 5.0f));
    ExpectOk(Nonzero(bench, dst, src).Int("index_offset", 3).Int("padding_val", -7).Issue());
    const std::vector<float> values = Bench::Read(src);
    std::vector<float> want;
    for (int64_t r = 0; r < p; ++r) {
      std::vector<float> row(size_t(n + 1), r % 16 ? 5.0f : -7.0f);
      size_t count = 0;
      for (int64_t i = 0; i < n && r % 16 == 0; ++i) {
        if (values[size_t(r * n + i)] != 0) row[count++] = float(i + 3);
      }
      if (r % 16 == 0) row[size_t(n)] = float(count);
      want.insert(want.end(), row.begin(), row.end());
    }
    ExpectSame(Bench::Read(dst), want);
  }
}

TEST(NonzeroWithCount, RefusesDstWithoutRoomForTheCount) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 1, 2, DType::kI32, {1, 1});
  Tensor* dst = bench.Sbuf("dst", 1, 2, DType::kI32);
  ExpectRefused(Nonzero(bench, All(dst), All(src)).Issue(), ErrorClass::kShape, "expected 3");
}

Status TopK(Bench& bench, Tensor* values, Tensor* indices, Tensor* src, int64_t n) {
  return bench.Call("topk")
      .Op("val_dst", All(values))
      .Op("idx_dst", All(indices))
      .Op("src", All(src))
      .Int("n", n)
      .Issue();
}

// The snake of a group as a flat row.
std::vector<float> Unwind(const std::vector<float>& tile, size_t width, size_t group, size_t n) {
  std::vector<float> flat;
  for (size_t i = 0; i < n; ++i) flat.push_back(tile[(group * 16 + i % 16) * width + i / 16]);
  return flat;
}

TEST(Topk, AscendingInTheSnake) {
  Bench bench;
  std::vector<float> values(16 * 2, 0.0f);
  values[0] = 3;            // element 0
  values[5 * 2] = 9;        // 5
  values[2 * 2 + 1] = 7;    // 18
  values[15 * 2 + 1] = 99;  // 31: past n
  Tensor* src = bench.Sbuf("src", 16, 2, DType::kBF16, values);
  Tensor* val = bench.Sbuf("val", 16, 3, DType::kBF16);
  Tensor* idx = bench.Sbuf("idx", 16, 3, DType::kU32);
  ExpectOk(TopK(bench, val, idx, src, 30));
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(Bench::Read(Slice(val, p, 1, 0, 1))[0], (std::array{3.f, 7.f, 9.f}[size_t(p)]));
    EXPECT_EQ(ReadBits(Slice(idx, p, 1, 0, 1))[0], (std::array{0u, 18u, 5u}[size_t(p)]));
  }
}

TEST(Topk, RandomAgainstSort) {
  Philox random(3, 5);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const size_t groups = 1 + random.NextBelow(8), n = 8 + random.NextBelow(120);
    const size_t k = 1 + random.NextBelow(n), width = (n + 15) / 16 + random.NextBelow(2);
    const int64_t p = int64_t(groups * 16);
    Tensor* src = bench.Sbuf("src", p, int64_t(width), DType::kBF16,
                             RandomFloats(random, p * int64_t(width)));
    Tensor* val = bench.Sbuf("val", p, int64_t(k), DType::kBF16);
    Tensor* idx = bench.Sbuf("idx", p, int64_t(k), DType::kU32);
    ExpectOk(TopK(bench, val, idx, src, int64_t(n)));
    const std::vector<float> got = Bench::Read(val), where = Bench::Read(idx);
    const std::vector<float> data = Bench::Read(src);
    for (size_t g = 0; g < groups; ++g) {
      const std::vector<float> flat = Unwind(data, width, g, n);
      std::vector<float> sorted = flat;
      std::sort(sorted.begin(), sorted.end());
      ExpectSame(Unwind(got, k, g, k), {sorted.end() - int64_t(k), sorted.end()});
      const std::vector<float> at = Unwind(where, k, g, k);
      std::vector<bool> seen(n, false);
      for (size_t j = 0; j < k; ++j) {
        ASSERT_FALSE(seen[size_t(at[j])]) << "an index came twice";
        seen[size_t(at[j])] = true;
        ASSERT_EQ(flat[size_t(at[j])], Unwind(got, k, g, k)[j]);
      }
    }
  }
}

TEST(Topk, NeedsOnlyTheElementsOfTheSnake) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 16, 2, DType::kBF16);
  WriteBits(Slice(src, 0, 16, 0, 1), std::vector<uint32_t>(16, 0x3f80));  // column 0 alone
  Tensor* val = bench.Sbuf("val", 16, 1, DType::kBF16);
  Tensor* idx = bench.Sbuf("idx", 16, 1, DType::kU32);
  ExpectOk(TopK(bench, val, idx, src, 16));
  ExpectRefused(TopK(bench, val, idx, src, 17), ErrorClass::kUninitialized, "topk: src");
}

TEST(Topk, Refusals) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 16, 1, DType::kBF16, std::vector<float>(16, 1.0f));
  Tensor* val = bench.Sbuf("val", 16, 9, DType::kBF16);
  Tensor* idx = bench.Sbuf("idx", 16, 9, DType::kU32);
  ExpectRefused(TopK(bench, val, idx, src, 8), ErrorClass::kShape, "asks for 9 values of 8");
  ExpectRefused(TopK(bench, val, idx, src, 7), ErrorClass::kArgument, "8 to 65535");
  ExpectRefused(TopK(bench, val, idx, src, 17), ErrorClass::kFreeSize, "src has 1");
}

}  // namespace
}  // namespace wt::chip::sequence_test
