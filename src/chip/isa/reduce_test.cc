#include "chip/alu.h"
#include "chip/isa/testing.h"

namespace wt::chip::reduce_test {
namespace {

const std::vector<DType> kDtypes = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32,
                                    DType::kU8};

Call Reduce(Bench& bench, const AccessPattern& dst, const AccessPattern& data, AluOp op,
            const std::vector<int64_t>& axis) {
  Call call = bench.Call("tensor_reduce");
  call.Op("dst", dst).Name("op", op).Op("data", data).Ints("axis", axis);
  return call;
}

TEST(TensorReduce, AxesFromTheLastOn) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 6, DType::kF32, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  const AccessPattern data = Pattern(x, DType::kF32, {2, 3, 2});
  Tensor* rows = bench.Sbuf("rows", 2, 3, DType::kF32);
  Tensor* all = bench.Sbuf("all", 2, 1, DType::kF32);
  ExpectOk(Reduce(bench, All(rows), data, AluOp::kAdd, {2}).Issue());
  ExpectSame(Bench::Read(rows), {3, 7, 11, 30, 70, 110});
  ExpectOk(Reduce(bench, All(all), data, AluOp::kMaximum, {1, 2}).Bool("negate", true).Issue());
  ExpectSame(Bench::Read(all), {-6, -60});
  ExpectOk(Reduce(bench, All(rows), data, AluOp::kSubtract, {-1}).Issue());
  ExpectSame(Bench::Read(rows), {-1, -1, -1, -10, -10, -10});
}

TEST(TensorReduce, RandomLayoutsTypesAndOperations) {
  const std::vector<AluOp> ops = {AluOp::kAdd, AluOp::kMaximum, AluOp::kMinimum, AluOp::kLogicalOr,
                                  AluOp::kLogicalAnd};
  Philox random(61, 0);
  for (int trial = 0; trial < 2 * kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), groups = 1 + int64_t(random.NextBelow(6));
    const int64_t n = 1 + int64_t(random.NextBelow(150));
    const DType dtype = Pick(random, kDtypes);
    const AluOp op = ops[random.NextBelow(ops.size())];
    const std::vector<float> values = RandomWhole(random, p * groups * n, 0, 5);
    Tensor* x = bench.Psum("x", p, groups * n, dtype, values);
    const AccessPattern dst = RandomOperand(bench, random, Memory::kSbuf, p, groups, DType::kF32);
    ExpectOk(Reduce(bench, dst, Pattern(x, dtype, {p, groups, n}), op, {2}).Issue());
    std::vector<float> want;
    for (int64_t g = 0; g < p * groups; ++g) {
      float result = values[size_t(g * n)];
      if (n == 1 && (op == AluOp::kLogicalOr || op == AluOp::kLogicalAnd)) result = result != 0;
      for (int64_t i = 1; i < n; ++i) result = Apply(op, result, values[size_t(g * n + i)]);
      want.push_back(result);  // small whole numbers: exact in any order
    }
    ExpectSame(Bench::Read(dst), want);
  }
}

TEST(TensorReduce, Bits) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 3, DType::kU16, {0x0ff0, 0x00ff, 0x8000});
  Tensor* y = bench.Sbuf("y", 1, 1, DType::kU16);
  ExpectOk(Reduce(bench, All(y), All(x), AluOp::kBitwiseOr, {1}).Issue());
  ExpectSame(Bench::Read(y), {0x8fff});
}

TEST(TensorReduce, Refusals) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 6, DType::kF32, std::vector<float>(12, 1));
  Tensor* y = bench.Sbuf("y", 2, 3, DType::kF32);
  const AccessPattern data = Pattern(x, DType::kF32, {2, 3, 2});
  ExpectRefused(Reduce(bench, All(y), data, AluOp::kAdd, {1}).Issue(), ErrorClass::kArgument,
                "the last ones");
  ExpectRefused(Reduce(bench, All(y), data, AluOp::kAdd, {0, 1, 2}).Issue(), ErrorClass::kArgument,
                "without the partition dimension");
  ExpectRefused(Reduce(bench, All(y), data, AluOp::kDivide, {2}).Issue(), ErrorClass::kArgument,
                "divide");
  ExpectRefused(Reduce(bench, All(y), data, AluOp::kAdd, {1, 2}).Issue(), ErrorClass::kShape,
                "2 of 1");
  ExpectRefused(Reduce(bench, All(y), data, AluOp::kBitwiseOr, {2}).Issue(), ErrorClass::kDtype,
                "integers");
}

Call Scan(Bench& bench, const AccessPattern& dst, const AccessPattern& a, const AccessPattern& b,
          AluOp op0, AluOp op1) {
  Call call = bench.Call("tensor_tensor_scan");
  call.Op("dst", dst).Op("data0", a).Op("data1", b).Name("op0", op0).Name("op1", op1);
  return call;
}

TEST(TensorTensorScan, RunningSumFromInitial) {
  Bench bench;
  Tensor* one = bench.Sbuf("one", 1, 4, DType::kF32, {1, 1, 1, 1});
  Tensor* x = bench.Sbuf("x", 1, 4, DType::kBF16, {1, 2, 3, 4});
  Tensor* y = bench.Sbuf("y", 1, 4, DType::kF32);
  ExpectOk(Scan(bench, All(y), All(one), All(x), AluOp::kMultiply, AluOp::kAdd)
               .Float("initial", 10)
               .Issue());
  ExpectSame(Bench::Read(y), {11, 13, 16, 20});
}

TEST(TensorTensorScan, TheChainIsNotRounded) {
  Bench bench;
  Tensor* one = bench.Sbuf("one", 1, 3, DType::kF32, {1, 1, 1});
  Tensor* x = bench.Sbuf("x", 1, 3, DType::kF32, {256, 0.75, 0.75});
  Tensor* y = bench.Sbuf("y", 1, 3, DType::kBF16);
  ExpectOk(Scan(bench, All(y), All(one), All(x), AluOp::kMultiply, AluOp::kAdd)
               .Float("initial", 0)
               .Issue());
  ExpectSame(Bench::Read(y), {256, 256, 258});  // 257.5, not twice 256.75 rounded
}

TEST(TensorTensorScan, RandomLayouts) {
  const std::vector<AluOp> ops = {AluOp::kAdd, AluOp::kMultiply, AluOp::kMaximum, AluOp::kSubtract};
  Philox random(62, 0);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(40));
    const DType ta = Pick(random, kDtypes), tb = Pick(random, kDtypes);
    const AluOp op0 = ops[random.NextBelow(4)], op1 = ops[random.NextBelow(4)];
    const bool reverse0 = random.NextBelow(3) == 0, reverse1 = random.NextBelow(3) == 0;
    const std::vector<float> a = AsStored(ta, RandomFloats(random, p * n, 0, 1));
    const std::vector<float> b = AsStored(tb, RandomFloats(random, p * n, 0, 1));
    const std::vector<float> initial = RandomFloats(random, p);
    const AccessPattern dst = RandomOperand(bench, random, Memory::kSbuf, p, n, DType::kF32);
    ExpectOk(
        Scan(bench, dst, RandomOperand(bench, random, Memory::kSbuf, p, n, ta, a),
             RandomOperand(bench, random, Memory::kPsum, p, n, tb, b), op0, op1)
            .Op("initial", RandomOperand(bench, random, Memory::kSbuf, p, 1, DType::kF32, initial))
            .Bool("reverse0", reverse0)
            .Bool("reverse1", reverse1)
            .Issue());
    std::vector<float> want(a.size());
    for (size_t i = 0; i < want.size(); ++i) {
      const size_t row = i / size_t(n);
      const float x = i % size_t(n) ? want[i - 1] : initial[row];
      const float t = reverse0 ? Apply(op0, x, a[i]) : Apply(op0, a[i], x);
      want[i] = reverse1 ? Apply(op1, b[i], t) : Apply(op1, t, b[i]);
    }
    ExpectSame(Bench::Read(dst), want);
  }
}

TEST(TensorTensorScan, Refusals) {
  Bench bench;
  Tensor* a = bench.Psum("a", 1, 3, DType::kF32, {1, 1, 1});
  Tensor* b = bench.Psum("b", 1, 3, DType::kF32, {1, 1, 1});
  Tensor* y = bench.Sbuf("y", 1, 3, DType::kF32);
  ExpectRefused(
      Scan(bench, All(y), All(a), All(b), AluOp::kAdd, AluOp::kAdd).Float("initial", 0).Issue(),
      ErrorClass::kMemory, "both in psum");
  ExpectRefused(
      Scan(bench, All(y), All(a), All(y), AluOp::kAbs, AluOp::kAdd).Float("initial", 0).Issue(),
      ErrorClass::kArgument, "abs");
  ExpectRefused(Scan(bench, All(y), All(a), All(y), AluOp::kAdd, AluOp::kAdd).Issue(),
                ErrorClass::kArgument, "initial is missing");
}

}  // namespace
}  // namespace wt::chip::reduce_test
