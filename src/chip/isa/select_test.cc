#include "chip/isa/testing.h"

namespace wt::chip::select_test {
namespace {

constexpr float kFp32Min = -std::numeric_limits<float>::max();

Call RangeSelect(Bench& bench, const AccessPattern& dst, const AccessPattern& x,
                 const AccessPattern& low, const AccessPattern& high,
                 AluOp op0 = AluOp::kGreaterEqual, AluOp op1 = AluOp::kLess) {
  Call call = bench.Call("range_select");
  call.Op("dst", dst).Op("on_true_tile", x).Op("bound0", low).Op("bound1", high);
  call.Name("comp_op0", op0).Name("comp_op1", op1);
  return call;
}

TEST(RangeSelect, KeepsAHalfOpenRangeAndItsMaximum) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 4, DType::kF32, {9, 1, 2, 3, 4, 5, 6, 7});
  Tensor* low = bench.Sbuf("low", 2, 1, DType::kF32, {1, 0});
  Tensor* high = bench.Sbuf("high", 2, 1, DType::kF32, {3, 2});
  Tensor* dst = bench.Sbuf("dst", 2, 4, DType::kF32);
  Tensor* most = bench.Sbuf("most", 2, 1, DType::kF32);
  ExpectOk(RangeSelect(bench, All(dst), All(x), All(low), All(high))
               .Op("reduce_res", All(most))
               .Issue());
  ExpectSame(Bench::Read(dst), {kFp32Min, 1, 2, kFp32Min, 4, 5, kFp32Min, kFp32Min});
  ExpectSame(Bench::Read(most), {2, 5});
}

TEST(RangeSelect, EmptyRowsAreMinusInfinityIn16BitsAndFiniteInTheMaximum) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 2, DType::kBF16, {9, 1});
  Tensor* none = bench.Sbuf("none", 1, 1, DType::kF32, {0});
  Tensor* dst = bench.Sbuf("dst", 1, 2, DType::kBF16);
  Tensor* most = bench.Sbuf("most", 1, 1, DType::kF32);
  ExpectOk(RangeSelect(bench, All(dst), All(x), All(none), All(none))
               .Op("reduce_res", All(most))
               .Issue());
  ExpectSame(Bench::Read(dst), {-INFINITY, -INFINITY});
  ExpectSame(Bench::Read(most), {kFp32Min});
}

TEST(RangeSelect, ChainsThroughTheAccumulators) {
  Bench bench;
  Tensor* low = bench.Sbuf("low", 1, 1, DType::kF32, {0});
  Tensor* high = bench.Sbuf("high", 1, 1, DType::kF32, {3});
  Tensor* x = bench.Sbuf("x", 1, 2, DType::kF32, {5, 6});
  Tensor* y = bench.Sbuf("y", 1, 2, DType::kF32, {4, 7});
  Tensor* dst = bench.Sbuf("dst", 1, 2, DType::kF32);
  Tensor* most = bench.Sbuf("most", 1, 1, DType::kF32);
  ExpectOk(RangeSelect(bench, All(dst), All(x), All(low), All(high)).Issue());
  ExpectOk(RangeSelect(bench, All(dst), All(y), All(low), All(high))
               .Int("range_start", 2)
               .Name("reduce_cmd", ReduceCmd::kReduce)
               .Op("reduce_res", All(most))
               .Issue());
  ExpectSame(Bench::Read(dst), {4, kFp32Min});  // positions 2 and 3
  ExpectSame(Bench::Read(most), {6});
}

bool Compare(AluOp op, float a, float b) {
  switch (op) {
    case AluOp::kEqual:
      return a == b;
    case AluOp::kLess:
      return a < b;
    case AluOp::kLessEqual:
      return a <= b;
    case AluOp::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

TEST(RangeSelect, RandomAgainstTwin) {
  Philox random(1, 6);
  const std::vector<AluOp> ops = {AluOp::kEqual, AluOp::kLess, AluOp::kLessEqual, AluOp::kGreater,
                                  AluOp::kGreaterEqual};
  for (int trial = 0; trial < 2 * kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(40));
    const AluOp op0 = ops[random.NextBelow(5)], op1 = ops[random.NextBelow(5)];
    const int start = int(random.NextBelow(100)) - 50;
    const std::vector<DType> floats = {DType::kF32, DType::kBF16, DType::kF16};
    const AccessPattern x = RandomOperand(bench, random, Memory::kPsum, p, n, Pick(random, floats),
                                          RandomFloats(random, p * n));
    std::vector<float> bounds = RandomWhole(random, 2 * p, start - 5, start + int(n) + 5);
    if (trial % 7 == 0) bounds[0] = NAN;
    if (trial % 5 == 0) bounds.back() += 0.5f;
    const AccessPattern low = RandomOperand(bench, random, Memory::kSbuf, p, 1, DType::kF32,
                                            {bounds.begin(), bounds.begin() + p});
    const AccessPattern high = RandomOperand(bench, random, Memory::kSbuf, p, 1, DType::kF32,
                                             {bounds.begin() + p, bounds.end()});
    const AccessPattern dst =
        RandomOperand(bench, random, Memory::kSbuf, p, n, Pick(random, floats));
    const AccessPattern most = RandomOperand(bench, random, Memory::kSbuf, p, 1, DType::kF32);
    ExpectOk(RangeSelect(bench, dst, x, low, high, op0, op1)
                 .Int("range_start", start)
                 .Float("on_false_value", -3.4028235e+38)
                 .Op("reduce_res", most)
                 .Issue());
    std::vector<float> want = Bench::Read(x), maxima(size_t(p), -INFINITY);
    for (int64_t i = 0; i < p * n; ++i) {
      const float at = float(start + i % n);
      const bool keep =
          Compare(op0, at, bounds[size_t(i / n)]) && Compare(op1, at, bounds[size_t(p + i / n)]);
      if (!keep) want[size_t(i)] = kFp32Min;
      maxima[size_t(i / n)] = std::max(maxima[size_t(i / n)], want[size_t(i)]);
    }
    ExpectSame(Bench::Read(dst), AsStored(dst.dtype, want));
    ExpectSame(Bench::Read(most), maxima);
  }
}

TEST(RangeSelect, Refusals) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 2, DType::kF32, {1, 2});
  Tensor* b = bench.Sbuf("b", 1, 1, DType::kF32, {0});
  const auto call = [&] { return RangeSelect(bench, All(x), All(x), All(b), All(b)); };
  ExpectRefused(call().Float("on_false_value", 0).Issue(), ErrorClass::kArgument, "-3.4028235e+38");
  ExpectRefused(RangeSelect(bench, All(x), All(x), All(b), All(b), AluOp::kNotEqual).Issue(),
                ErrorClass::kArgument, "not_equal");
  ExpectRefused(call().Name("reduce_cmd", ReduceCmd::kLoadReduce).Issue(), ErrorClass::kArgument,
                "load_reduce");
  ExpectRefused(call().Name("reduce_cmd", ReduceCmd::kReduce).Issue(), ErrorClass::kUndefined,
                "begin with reset_reduce");
  ExpectRefused(call().Name("reduce_cmd", ReduceCmd::kIdle).Op("reduce_res", All(b)).Issue(),
                ErrorClass::kArgument, "does not accumulate");
  ExpectRefused(call().Int("range_start", 1 << 24).Issue(), ErrorClass::kArgument, "2^24");
}

Call SelectReduce(Bench& bench, const AccessPattern& dst, const AccessPattern& predicate,
                  const AccessPattern& on_true) {
  Call call = bench.Call("select_reduce");
  call.Op("dst", dst).Op("predicate", predicate).Op("on_true", on_true);
  return call;
}

TEST(SelectReduce, ScalarOnFalseAndReversedPredicate) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 3, DType::kF32, {1, 2, 3});
  Tensor* pred = bench.Sbuf("pred", 1, 3, DType::kU8, {1, 0, 200});
  Tensor* dst = bench.Sbuf("dst", 1, 3, DType::kF32);
  ExpectOk(SelectReduce(bench, All(dst), All(pred), All(x)).Float("on_false", -5).Issue());
  ExpectSame(Bench::Read(dst), {1, -5, 3});
  ExpectOk(SelectReduce(bench, All(dst), All(pred), All(x))
               .Float("on_false", -5)
               .Bool("reverse_pred", true)
               .Issue());
  ExpectSame(Bench::Read(dst), {-5, 2, -5});
}

TEST(SelectReduce, IdleLeavesTheAccumulatorsUnknown) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 2, DType::kF32, {1, 2});
  Tensor* pred = bench.Sbuf("pred", 1, 2, DType::kU8, {1, 1});
  const auto call = [&](ReduceCmd command) {
    return SelectReduce(bench, All(x), All(pred), All(x))
        .Float("on_false", 0)
        .Name("reduce_cmd", command)
        .Issue();
  };
  ExpectOk(call(ReduceCmd::kResetReduce));
  ExpectOk(call(ReduceCmd::kReduce));
  ExpectOk(call(ReduceCmd::kIdle));
  ExpectRefused(call(ReduceCmd::kReduce), ErrorClass::kUndefined, "reset_reduce");
}

TEST(SelectReduce, RandomAgainstTwin) {
  Philox random(2, 6);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(40));
    const DType from = Pick(random, {DType::kF32, DType::kBF16, DType::kI8, DType::kU16});
    const DType to = Pick(random, {DType::kF32, DType::kBF16});
    const AccessPattern x = RandomOperand(bench, random, Memory::kPsum, p, n, from,
                                          RandomFloats(random, p * n, 0, 100));
    const AccessPattern pred =
        RandomOperand(bench, random, Memory::kSbuf, p, n,
                      Pick(random, {DType::kI8, DType::kU8, DType::kI16, DType::kU16}),
                      RandomWhole(random, p * n, 0, 1));
    const AccessPattern on_false = RandomOperand(bench, random, Memory::kSbuf, p, 1, DType::kBF16,
                                                 RandomFloats(random, p, 0, 100));
    const AccessPattern dst = RandomOperand(bench, random, Memory::kSbuf, p, n, to);
    const AccessPattern most = RandomOperand(bench, random, Memory::kSbuf, p, 1, DType::kF32);
    ExpectOk(SelectReduce(bench, dst, pred, x)
                 .Op("on_false", on_false)
                 .Op("reduce_res", most)
                 .Name("reduce_cmd", ReduceCmd::kResetReduce)
                 .Bool("reverse_pred", trial % 2)
                 .Issue());
    std::vector<float> want = Bench::Read(x), maxima(size_t(p), -INFINITY);
    const std::vector<float> truth = Bench::Read(pred), other = Bench::Read(on_false);
    for (size_t i = 0; i < want.size(); ++i) {
      const size_t r = i / size_t(n);
      if ((truth[i] != 0) == bool(trial % 2)) want[i] = other[r];
      maxima[r] = std::max(maxima[r], want[i]);
    }
    ExpectSame(Bench::Read(dst), AsStored(to, want));
    ExpectSame(Bench::Read(most), maxima);
  }
}

TEST(SelectReduce, Refusals) {
  Bench bench;
  Tensor* x = bench.Psum("x", 1, 2, DType::kF32, {1, 2});
  Tensor* pred = bench.Psum("pred", 1, 2, DType::kU8, {1, 1});
  Tensor* dst = bench.Sbuf("dst", 1, 2, DType::kF32);
  ExpectRefused(SelectReduce(bench, All(dst), All(pred), All(x)).Float("on_false", 0).Issue(),
                ErrorClass::kMemory, "both in");
  Tensor* wide = bench.Sbuf("wide", 1, 2, DType::kI32, {1, 2});
  ExpectRefused(SelectReduce(bench, All(dst), All(wide), All(x)).Float("on_false", 0).Issue(),
                ErrorClass::kDtype, "predicate is i32");
}

}  // namespace
}  // namespace wt::chip::select_test
