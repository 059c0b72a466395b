#include <algorithm>

#include "chip/isa/testing.h"

namespace wt::chip::top8_test {
namespace {

const std::vector<DType> kKinds = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32};

TEST(Max8, DescendingWithDuplicates) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 1, 10, DType::kF32, {3, 9, 1, 9, -5, 4, 2, 8, 0, 7});
  Tensor* dst = bench.Sbuf("dst", 1, 8, DType::kF32);
  ExpectOk(bench.Call("max8").Op("dst", All(dst)).Op("src", All(src)).Issue());
  ExpectSame(Bench::Read(dst), {9, 9, 8, 7, 4, 3, 2, 1});
}

TEST(Max8, ShorterRowThanNumbers) {
  Bench bench;
  const float nan = NAN;
  Tensor* src = bench.Sbuf("src", 1, 8, DType::kF32, {nan, 1, nan, 2, nan, 3, -INFINITY, nan});
  Tensor* dst = bench.Sbuf("dst", 1, 8, DType::kF32);
  ExpectOk(bench.Call("max8").Op("dst", All(dst)).Op("src", All(src)).Issue());
  const std::vector<float> top = Bench::Read(dst);
  ExpectSame({top.begin(), top.begin() + 4}, {3, 2, 1, -INFINITY});
}

TEST(Max8, RandomRowsAgainstSort) {
  Philox random(1, 0);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 8 + int64_t(random.NextBelow(120));
    const std::vector<float> values =
        trial % 2 ? RandomFloats(random, p * n) : RandomWhole(random, p * n, -20, 20);
    const AccessPattern src =
        RandomOperand(bench, random, Memory::kSbuf, p, n, Pick(random, kKinds), values);
    const AccessPattern dst =
        RandomOperand(bench, random, Memory::kSbuf, p, 8, Pick(random, kKinds));
    ExpectOk(bench.Call("max8").Op("dst", dst).Op("src", src).Issue());
    const std::vector<float> data = Bench::Read(src);
    std::vector<float> want;
    for (int64_t r = 0; r < p; ++r) {
      std::vector<float> row(data.begin() + r * n, data.begin() + (r + 1) * n);
      std::sort(row.rbegin(), row.rend());
      want.insert(want.end(), row.begin(), row.begin() + 8);
    }
    ExpectSame(Bench::Read(dst), AsStored(dst.dtype, want));
  }
}

TEST(Max8, RefusesShortRows) {
  Bench bench;
  Tensor* src = bench.Sbuf("src", 2, 7, DType::kF32, std::vector<float>(14, 1.0f));
  Tensor* dst = bench.Sbuf("dst", 2, 8, DType::kF32);
  ExpectRefused(bench.Call("max8").Op("dst", All(dst)).Op("src", All(src)).Issue(),
                ErrorClass::kFreeSize, "8 to 16384");
}

std::vector<uint32_t> FindIndex8(const std::vector<float>& data, const std::vector<float>& vals,
                                 DType dtype) {
  Bench bench;
  Tensor* d = bench.Sbuf("data", 1, int64_t(data.size()), DType::kF32, data);
  Tensor* v = bench.Sbuf("vals", 1, 8, DType::kF32, vals);
  Tensor* dst = bench.Sbuf("dst", 1, 8, dtype);
  ExpectOk(bench.Call("nc_find_index8")
               .Op("dst", All(dst))
               .Op("data", All(d))
               .Op("vals", All(v))
               .Issue());
  return ReadBits(All(dst));
}

TEST(NcFindIndex8, FirstOccurrences) {
  EXPECT_EQ(FindIndex8({5, 6, 7, 8, 9, 5, 4, 3, 2}, {9, 8, 7, 6, 5, 4, 3, 2}, DType::kU32),
            (std::vector<uint32_t>{4, 3, 2, 1, 0, 6, 7, 8}));
}

TEST(NcFindIndex8, EqualValuesGetSuccessiveMatchesAscending) {
  EXPECT_EQ(FindIndex8({1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8}, {3, 8, 8, 8, 8, 8, 8, 8}, DType::kU32),
            (std::vector<uint32_t>{2, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(NcFindIndex8, MissingIsAllOnesInEitherWidth) {
  const std::vector<float> data = {1, 1, 2, 0, 0, 0, 0, 0};
  const std::vector<float> vals = {1, 1, 1, 7, 2, NAN, 2, 0};
  EXPECT_EQ(FindIndex8(data, vals, DType::kU32),
            (std::vector<uint32_t>{0, 1, ~0u, ~0u, 2, ~0u, ~0u, 3}));
  EXPECT_EQ(FindIndex8(data, vals, DType::kU16),
            (std::vector<uint32_t>{0, 1, 0xffff, 0xffff, 2, 0xffff, 0xffff, 3}));
}

// A twin that marks positions: slot after slot takes the first free one with its value.
std::vector<int64_t> FindTwin(const float* data, int64_t n, const float* vals,
                              const std::vector<int>& slots) {
  std::vector<bool> taken(size_t(n), false);
  std::vector<int64_t> found(8, -1);
  for (int slot : slots) {
    for (int64_t i = 0; i < n && found[size_t(slot)] < 0; ++i) {
      if (taken[size_t(i)] || data[i] != vals[slot]) continue;
      taken[size_t(i)] = true;
      found[size_t(slot)] = i;
    }
  }
  return found;
}

TEST(NcFindIndex8, RandomAgainstTwin) {
  Philox random(2, 0);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 8 + int64_t(random.NextBelow(60));
    const AccessPattern data = RandomOperand(
        bench, random, Memory::kSbuf, p, n, Pick(random, kKinds), RandomWhole(random, p * n, 0, 9));
    const AccessPattern vals = RandomOperand(bench, random, Memory::kPsum, p, 8, DType::kF32,
                                             RandomWhole(random, p * 8, 0, 11));
    const AccessPattern dst = RandomOperand(bench, random, Memory::kSbuf, p, 8, DType::kU32);
    ExpectOk(bench.Call("nc_find_index8").Op("dst", dst).Op("data", data).Op("vals", vals).Issue());
    const std::vector<float> d = Bench::Read(data), v = Bench::Read(vals);
    const std::vector<uint32_t> got = ReadBits(dst);
    for (int64_t r = 0; r < p; ++r) {
      const std::vector<int64_t> want =
          FindTwin(&d[size_t(r * n)], n, &v[size_t(r * 8)], {0, 1, 2, 3, 4, 5, 6, 7});
      for (size_t j = 0; j < 8; ++j)
        ASSERT_EQ(got[size_t(r * 8) + j], uint32_t(want[j])) << "trial " << trial;
    }
  }
}

TEST(NcFindIndex8, RefusesSevenValues) {
  Bench bench;
  Tensor* d = bench.Sbuf("data", 1, 8, DType::kF32, std::vector<float>(8, 1.0f));
  Tensor* v = bench.Sbuf("vals", 1, 7, DType::kF32, std::vector<float>(7, 1.0f));
  Tensor* dst = bench.Sbuf("dst", 1, 8, DType::kU32);
  ExpectRefused(bench.Call("nc_find_index8")
                    .Op("dst", All(dst))
                    .Op("data", All(d))
                    .Op("vals", All(v))
                    .Issue(),
                ErrorClass::kShape, "expected 8");
}

TEST(NcMatchReplace8, DuplicatesGoToTheHighestSlotFirst) {
  Bench bench;
  Tensor* d = bench.Sbuf("data", 1, 11, DType::kF32, {1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8});
  Tensor* v = bench.Sbuf("vals", 1, 8, DType::kF32, {3, 8, 8, 8, 8, 8, 8, 8});
  Tensor* idx = bench.Sbuf("idx", 1, 8, DType::kU32);
  ExpectOk(bench.Call("nc_match_replace8")
               .Op("dst", All(d))  // in place
               .Op("data", All(d))
               .Op("vals", All(v))
               .Float("imm", -1)
               .Op("dst_idx", All(idx))
               .Issue());
  ExpectSame(Bench::Read(d), {1, 2, -1, 4, -1, -1, -1, -1, -1, -1, -1});
  EXPECT_EQ(ReadBits(All(idx)), (std::vector<uint32_t>{2, 10, 9, 8, 7, 6, 5, 4}));
}

TEST(NcMatchReplace8, WhatIsPutInIsNotMatchedAgain) {
  Bench bench;
  Tensor* d = bench.Sbuf("data", 1, 8, DType::kF32, {5, 6, 7, 0, 1, 2, 3, 4});
  Tensor* v = bench.Sbuf("vals", 1, 8, DType::kF32, {5, 0, 9, 9, 9, 9, 9, 9});
  Tensor* dst = bench.Sbuf("dst", 1, 8, DType::kF32);
  Tensor* idx = bench.Sbuf("idx", 1, 8, DType::kU16);
  ExpectOk(bench.Call("nc_match_replace8")
               .Op("dst", All(dst))
               .Op("data", All(d))
               .Op("vals", All(v))
               .Float("imm", 0)
               .Op("dst_idx", All(idx))
               .Issue());
  ExpectSame(Bench::Read(dst), {0, 6, 7, 0, 1, 2, 3, 4});
  const uint32_t none = 0xffff;
  EXPECT_EQ(ReadBits(All(idx)), (std::vector<uint32_t>{0, 3, none, none, none, none, none, none}));
}

TEST(NcMatchReplace8, RandomAgainstTwin) {
  Philox random(3, 0);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 8 + int64_t(random.NextBelow(60));
    const AccessPattern data = RandomOperand(bench, random, Memory::kSbuf, p, n, DType::kBF16,
                                             RandomWhole(random, p * n, 0, 9));
    const AccessPattern vals = RandomOperand(bench, random, Memory::kSbuf, p, 8, DType::kF32,
                                             RandomWhole(random, p * 8, 0, 11));
    const AccessPattern dst =
        RandomOperand(bench, random, Memory::kSbuf, p, n, Pick(random, kKinds));
    const AccessPattern idx = RandomOperand(bench, random, Memory::kSbuf, p, 8, DType::kU32);
    ExpectOk(bench.Call("nc_match_replace8")
                 .Op("dst", dst)
                 .Op("data", data)
                 .Op("vals", vals)
                 .Float("imm", -3)
                 .Op("dst_idx", idx)
                 .Issue());
    std::vector<float> want = Bench::Read(data);
    const std::vector<float> d = want, v = Bench::Read(vals);
    const std::vector<uint32_t> got = ReadBits(idx);
    for (int64_t r = 0; r < p; ++r) {
      const std::vector<int64_t> found =
          FindTwin(&d[size_t(r * n)], n, &v[size_t(r * 8)], {7, 6, 5, 4, 3, 2, 1, 0});
      for (size_t j = 0; j < 8; ++j) {
        ASSERT_EQ(got[size_t(r * 8) + j], uint32_t(found[j])) << "trial " << trial;
        if (found[j] >= 0) want[size_t(r * n + found[j])] = -3;
      }
    }
    ExpectSame(Bench::Read(dst), want);
  }
}

TEST(NcMatchReplace8, RefusesAnotherWidth) {
  Bench bench;
  Tensor* d = bench.Sbuf("data", 1, 9, DType::kF32, std::vector<float>(9, 1.0f));
  Tensor* v = bench.Sbuf("vals", 1, 8, DType::kF32, std::vector<float>(8, 1.0f));
  Tensor* dst = bench.Sbuf("dst", 1, 8, DType::kF32);
  ExpectRefused(bench.Call("nc_match_replace8")
                    .Op("dst", All(dst))
                    .Op("data", All(d))
                    .Op("vals", All(v))
                    .Float("imm", 0)
                    .Issue(),
                ErrorClass::kShape, "must be equal");
}

}  // namespace
}  // namespace wt::chip::top8_test
