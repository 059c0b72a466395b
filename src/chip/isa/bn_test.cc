#include "chip/isa/testing.h"

namespace wt::chip::bn_test {
namespace {

Status Stats(Bench& bench, const AccessPattern& dst, const AccessPattern& data) {
  return bench.Call("bn_stats").Op("dst", dst).Op("data", data).Issue();
}
Status Aggr(Bench& bench, const AccessPattern& dst, const AccessPattern& data) {
  return bench.Call("bn_aggr").Op("dst", dst).Op("data", data).Issue();
}

TEST(BnStats, EvenAndOddPositionsApart) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 5, DType::kF32, {1, 10, 3, 20, 5});
  Tensor* stats = bench.Sbuf("stats", 1, 6, DType::kF32);
  ExpectOk(Stats(bench, All(stats), All(x)));
  ExpectSame(Bench::Read(stats), {3, 3, 8, 2, 15, 50});
}

TEST(BnStats, OneElementHasNoOddPart) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 1, DType::kI32, {7});
  Tensor* stats = bench.Sbuf("stats", 1, 6, DType::kF32);
  Tensor* both = bench.Sbuf("both", 1, 2, DType::kF32);
  ExpectOk(Stats(bench, All(stats), All(x)));
  ExpectSame(Bench::Read(stats), {1, 7, 0, 0, 0, 0});
  ExpectOk(Aggr(bench, All(both), All(stats)));
  ExpectSame(Bench::Read(both), {7, 0});
}

// Pieces of a row through bn_stats, then bn_aggr, against the plain mean and variance.
TEST(BnAggr, PiecesGiveTheWholeRow) {
  Philox random(1, 3);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(64)), piece = 1 + int64_t(random.NextBelow(60));
    const int64_t pieces = 1 + int64_t(random.NextBelow(4)), n = piece * pieces;
    const DType dtype = Pick(random, {DType::kF32, DType::kBF16});
    Tensor* x = bench.Sbuf("x", p, n, dtype, RandomFloats(random, p * n, 10, 20));
    Tensor* stats = bench.Sbuf("stats", p, pieces * 6, DType::kF32);
    for (int64_t i = 0; i < pieces; ++i)
      ExpectOk(Stats(bench, Slice(stats, 0, p, i * 6, 6), Slice(x, 0, p, i * piece, piece)));
    const AccessPattern dst = RandomOperand(bench, random, Memory::kPsum, p, 2, DType::kF32);
    ExpectOk(Aggr(bench, dst, All(stats)));
    const std::vector<float> values = Bench::Read(x);
    std::vector<float> want;
    for (int64_t r = 0; r < p; ++r) {
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < n; ++i) sum += values[size_t(r * n + i)];
      const double mean = sum / double(n);
      for (int64_t i = 0; i < n; ++i) squares += std::pow(values[size_t(r * n + i)] - mean, 2);
      want.push_back(float(mean));
      want.push_back(float(squares / double(n)));
    }
    ExpectNear(Bench::Read(dst), want, 1e-5f);
  }
}

TEST(BnStats, RandomAgainstTwin) {
  Philox random(2, 3);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(512));
    const DType dtype = Pick(random, {DType::kF32, DType::kBF16, DType::kI8});
    const AccessPattern x = RandomOperand(bench, random, Memory::kSbuf, p, n, dtype,
                                          RandomFloats(random, p * n, -50, 50));
    const AccessPattern dst = RandomOperand(bench, random, Memory::kSbuf, p, 6, DType::kF32);
    ExpectOk(Stats(bench, dst, x));
    const std::vector<float> values = Bench::Read(x);
    std::vector<float> want;
    for (int64_t r = 0; r < p; ++r) {
      for (int64_t odd = 0; odd < 2; ++odd) {
        double count = 0, sum = 0, squares = 0;
        for (int64_t i = odd; i < n; i += 2, ++count) sum += values[size_t(r * n + i)];
        for (int64_t i = odd; i < n; i += 2) squares += std::pow(values[size_t(r * n + i)], 2);
        want.push_back(float(count));
        want.push_back(count > 0 ? float(sum / count) : 0);
        want.push_back(count > 0 ? float(squares - sum * sum / count) : 0);
      }
    }
    ExpectNear(Bench::Read(dst), want, 1e-4f);
  }
}

TEST(BnStats, Refuses513Elements) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 513, DType::kF32, std::vector<float>(513, 1.0f));
  Tensor* stats = bench.Sbuf("stats", 1, 6, DType::kF32);
  ExpectRefused(Stats(bench, All(stats), All(x)), ErrorClass::kFreeSize, "1 to 512");
}

TEST(BnAggr, RefusesHalfTriples) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 4, DType::kF32, {1, 2, 3, 4});
  Tensor* dst = bench.Sbuf("dst", 1, 2, DType::kF32);
  ExpectRefused(Aggr(bench, All(dst), All(x)), ErrorClass::kShape, "multiple of 3");
}

}  // namespace
}  // namespace wt::chip::bn_test
