#include "chip/isa/testing.h"

namespace wt::chip::gather_test {
namespace {

Call LocalGather(Bench& bench, const AccessPattern& dst, const AccessPattern& src,
                 const AccessPattern& index) {
  Call call = bench.Call("local_gather");
  call.Op("dst", dst).Op("src_buffer", src).Op("index", index);
  return call;
}

TEST(LocalGather, IndicesRunAlongPartitionsFirst) {
  Bench bench;
  std::vector<float> data(32 * 4), index(32 * 2);
  for (size_t i = 0; i < data.size(); ++i) data[i] = float(i);
  for (size_t p = 0; p < 32; ++p) {  // core 0 asks for 0, core 1 for 3; second column for 1 and 2
    index[p * 2] = p < 16 ? 0 : 3;
    index[p * 2 + 1] = p < 16 ? 1 : 2;
  }
  Tensor* src = bench.Sbuf("src", 32, 4, DType::kF32, data);
  Tensor* idx = bench.Sbuf("index", 32, 2, DType::kU16, index);
  Tensor* dst = bench.Sbuf("dst", 32, 32, DType::kF32);
  ExpectOk(LocalGather(bench, All(dst), All(src), All(idx)).Issue());
  const std::vector<float> got = Bench::Read(dst);
  EXPECT_EQ(got[0], 0);
  EXPECT_EQ(got[16], 1);                // index 16 of core 0 is column 1 of partition 0
  EXPECT_EQ(got[20 * 32], 20 * 4 + 3);  // partition 20, first index of core 1
  EXPECT_EQ(got[20 * 32 + 31], 20 * 4 + 2);
}

TEST(LocalGather, RunsOfElementsAndFewerIndices) {
  Bench bench;
  std::vector<float> data(16 * 8);
  for (size_t i = 0; i < data.size(); ++i) data[i] = float(i % 8);
  Tensor* src = bench.Sbuf("src", 16, 8, DType::kBF16, data);
  std::vector<float> index(16);
  for (size_t p = 0; p < 16; ++p) index[p] = float(p % 7);
  Tensor* idx = bench.Sbuf("index", 16, 1, DType::kU16, index);
  Tensor* dst = bench.Sbuf("dst", 16, 6, DType::kBF16);
  ExpectOk(LocalGather(bench, All(dst), All(src), All(idx))
               .Int("num_elem_per_idx", 2)
               .Int("num_valid_indices", 3)
               .Issue());
  const std::vector<float> got = Bench::Read(dst);
  ExpectSame({got.begin(), got.begin() + 6}, {0, 1, 1, 2, 2, 3});
}

TEST(LocalGather, RandomAgainstTwin) {
  Philox random(1, 2);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t cores = 1 + int64_t(random.NextBelow(8)), p = cores * 16;
    const int64_t columns = 1 + int64_t(random.NextBelow(3)), run = 1 << random.NextBelow(3);
    const int64_t width = run + int64_t(random.NextBelow(40));
    const int64_t valid = 1 + int64_t(random.NextBelow(uint64_t(16 * columns)));
    const DType dtype = Pick(random, {DType::kF32, DType::kBF16, DType::kI8});
    const AccessPattern src = RandomOperand(bench, random, Memory::kSbuf, p, width, dtype,
                                            RandomFloats(random, p * width, -100, 100));
    const AccessPattern idx = RandomOperand(bench, random, Memory::kSbuf, p, columns, DType::kU16,
                                            RandomWhole(random, p * columns, 0, int(width - run)));
    const AccessPattern dst = RandomOperand(bench, random, Memory::kSbuf, p, valid * run, dtype);
    ExpectOk(LocalGather(bench, dst, src, idx)
                 .Int("num_elem_per_idx", run)
                 .Int("num_valid_indices", valid)
                 .Issue());
    const std::vector<float> data = Bench::Read(src), index = Bench::Read(idx);
    std::vector<float> want;
    for (int64_t r = 0; r < p; ++r) {
      std::vector<int64_t> list;  // of this core: Fortran order
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t q = r / 16 * 16; q < r / 16 * 16 + 16; ++q)
          list.push_back(int64_t(index[size_t(q * columns + c)]));
      for (int64_t k = 0; k < valid; ++k)
        for (int64_t e = 0; e < run; ++e)
          want.push_back(data[size_t(r * width + list[size_t(k)] + e)]);
    }
    ExpectSame(Bench::Read(dst), want);
  }
}

TEST(LocalGather, Refusals) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 16, 4, DType::kF32, std::vector<float>(64, 1.0f));
  Tensor* idx = bench.Sbuf("index", 16, 1, DType::kU16, std::vector<float>(16, 4.0f));
  Tensor* dst = bench.Sbuf("dst", 16, 16, DType::kF32);
  ExpectRefused(LocalGather(bench, All(dst), All(src), All(idx)).Issue(), ErrorClass::kOutOfBounds,
                "holds 4 in partition 0");
  ExpectRefused(LocalGather(bench, All(dst), All(src), All(idx)).Int("num_elem_per_idx", 3).Issue(),
                ErrorClass::kArgument, "1, 2, 4, 8, 16 or 32");
  ExpectRefused(
      LocalGather(bench, All(dst), All(src), All(idx)).Int("num_valid_indices", 17).Issue(),
      ErrorClass::kArgument, "1 to 16");
  Tensor* half = bench.Sbuf("half", 16, 16, DType::kBF16);
  ExpectRefused(LocalGather(bench, All(half), All(src), All(idx)).Issue(), ErrorClass::kDtype,
                "one dtype");
}

Status NGather(Bench& bench, const AccessPattern& dst, const AccessPattern& data,
               const AccessPattern& indices) {
  return bench.Call("nc_n_gather").Op("dst", dst).Op("data", data).Op("indices", indices).Issue();
}

TEST(NcNGather, WithinPartitions) {
  Bench bench;
  Tensor* data = bench.Sbuf("data", 2, 3, DType::kF32, {1, 2, 3, 4, 5, 6});
  Tensor* idx = bench.Sbuf("idx", 2, 2, DType::kU32, {2, 0, 1, 1});
  Tensor* dst = bench.Sbuf("dst", 2, 2, DType::kF32);
  ExpectOk(NGather(bench, All(dst), All(data), All(idx)));
  ExpectSame(Bench::Read(dst), {3, 1, 5, 5});
}

TEST(NcNGather, InPlaceReadsEverythingFirst) {
  Bench bench;
  Tensor* data = bench.Sbuf("data", 1, 3, DType::kI32, {1, 2, 3});
  Tensor* idx = bench.Sbuf("idx", 1, 3, DType::kU32, {2, 1, 0});
  ExpectOk(NGather(bench, All(data), All(data), All(idx)));
  ExpectSame(Bench::Read(data), {3, 2, 1});
}

TEST(NcNGather, RandomAgainstTwin) {
  Philox random(2, 2);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), width = 1 + int64_t(random.NextBelow(50));
    const int64_t n = 1 + int64_t(random.NextBelow(50));
    const DType dtype = Pick(random, {DType::kF32, DType::kF16, DType::kU8});
    const AccessPattern data = RandomOperand(bench, random, Memory::kSbuf, p, width, dtype,
                                             RandomFloats(random, p * width, 0, 200));
    const AccessPattern idx = RandomOperand(bench, random, Memory::kSbuf, p, n, DType::kU32,
                                            RandomWhole(random, p * n, 0, int(width - 1)));
    const AccessPattern dst = RandomOperand(bench, random, Memory::kSbuf, p, n, dtype);
    ExpectOk(NGather(bench, dst, data, idx));
    const std::vector<float> d = Bench::Read(data), index = Bench::Read(idx);
    std::vector<float> want;
    for (int64_t i = 0; i < p * n; ++i)
      want.push_back(d[size_t(i / n * width + int64_t(index[size_t(i)]))]);
    ExpectSame(Bench::Read(dst), want);
  }
}

TEST(NcNGather, RefusesEmptyData) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 1, DType::kU32, {0});
  const AccessPattern none = Slice(x, 0, 0, 0, 1);
  ExpectRefused(NGather(bench, none, none, none), ErrorClass::kShape, "no elements");
}

TEST(NcNGather, RefusesAnIndexOutside) {
  Bench bench;
  Tensor* data = bench.Sbuf("data", 1, 3, DType::kF32, {1, 2, 3});
  Tensor* idx = bench.Sbuf("idx", 1, 2, DType::kU32, {0, 3});
  Tensor* dst = bench.Sbuf("dst", 1, 2, DType::kF32);
  ExpectRefused(NGather(bench, All(dst), All(data), All(idx)), ErrorClass::kOutOfBounds,
                "has 3 elements");
}

}  // namespace
}  // namespace wt::chip::gather_test
