#include "chip/alu.h"
#include "chip/isa/testing.h"

namespace wt::chip::scalar_reduce_test {
namespace {

Call Reduce(Bench& bench, const AccessPattern& dst, const AccessPattern& data, AluOp op0,
            AluOp reduce_op) {
  Call call = bench.Call("tensor_scalar_reduce");
  call.Op("dst", dst).Op("data", data).Name("op0", op0).Name("reduce_op", reduce_op);
  return call;
}

TEST(TensorScalarReduce, ResultAndSum) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 3, DType::kF32, {1, 2, 3, 4, 5, 6});
  Tensor* dst = bench.Sbuf("dst", 2, 3, DType::kF32);
  Tensor* sum = bench.Sbuf("sum", 2, 1, DType::kF32);
  ExpectOk(Reduce(bench, All(dst), All(x), AluOp::kMultiply, AluOp::kAdd)
               .Float("operand0", 10)
               .Op("reduce_res", All(sum))
               .Issue());
  ExpectSame(Bench::Read(dst), {10, 20, 30, 40, 50, 60});
  ExpectSame(Bench::Read(sum), {60, 150});
}

TEST(TensorScalarReduce, AccumulatorsKeepWhatDstCannotHold) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 2, DType::kF32, {257, 257});
  Tensor* dst = bench.Sbuf("dst", 1, 2, DType::kBF16);
  Tensor* sum = bench.Sbuf("sum", 1, 1, DType::kF32);
  ExpectOk(Reduce(bench, All(dst), All(x), AluOp::kAdd, AluOp::kAdd)
               .Float("operand0", 0)
               .Op("reduce_res", All(sum))
               .Bool("reduce_res_negate", true)
               .Issue());
  ExpectSame(Bench::Read(dst), {256, 256});
  ExpectSame(Bench::Read(sum), {-514});
}

TEST(TensorScalarReduce, ChainsByReduceCmd) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 2, DType::kF32, {3, 4});
  Tensor* sum = bench.Sbuf("sum", 1, 1, DType::kF32);
  const auto call = [&] {
    return Reduce(bench, All(x), All(x), AluOp::kAdd, AluOp::kAdd).Float("operand0", 0);
  };
  ExpectOk(call().Issue());  // 7 stays in the accumulators
  ExpectOk(call()
               .Name("reduce_cmd", ReduceCmd::kReduce)
               .Op("reduce_res", All(sum))
               .Bool("reduce_res_negate", true)
               .Issue());
  ExpectSame(Bench::Read(sum), {-14});
  ExpectOk(call().Name("reduce_cmd", ReduceCmd::kReduce).Op("reduce_res", All(sum)).Issue());
  ExpectSame(Bench::Read(sum), {21});  // negation left them alone
  ExpectOk(call()
               .Name("reduce_cmd", ReduceCmd::kLoadReduce)
               .Float("reduce_init", 100)
               .Op("reduce_res", All(sum))
               .Issue());
  ExpectSame(Bench::Read(sum), {107});
}

TEST(TensorScalarReduce, UnaryOperation) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 3, DType::kF32, {-1, 2, -3});
  Tensor* most = bench.Sbuf("most", 1, 1, DType::kF32);
  ExpectOk(Reduce(bench, All(x), All(x), AluOp::kAbs, AluOp::kMaximum)
               .Op("reduce_res", All(most))
               .Issue());
  ExpectSame(Bench::Read(x), {1, 2, 3});
  ExpectSame(Bench::Read(most), {3});
}

TEST(TensorScalarReduce, RandomAgainstTwin) {
  Philox random(1, 9);
  const std::vector<AluOp> firsts = {AluOp::kAdd, AluOp::kMultiply, AluOp::kMaximum,
                                     AluOp::kSubtract, AluOp::kGreater};
  const std::vector<AluOp> reductions = {AluOp::kAdd, AluOp::kMultiply, AluOp::kMaximum,
                                         AluOp::kMinimum};
  for (int trial = 0; trial < 2 * kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(60));
    const AluOp op0 = firsts[random.NextBelow(5)], reduce = reductions[random.NextBelow(4)];
    const DType from = Pick(random, {DType::kF32, DType::kBF16, DType::kI16});
    const DType to = Pick(random, {DType::kF32, DType::kBF16});
    const AccessPattern x = RandomOperand(bench, random, Memory::kPsum, p, n, from,
                                          RandomFloats(random, p * n, -1.5f, 1.5f));
    const AccessPattern operand = RandomOperand(bench, random, Memory::kSbuf, p, 1, DType::kF32,
                                                RandomFloats(random, p, -1.5f, 1.5f));
    const AccessPattern init = RandomOperand(bench, random, Memory::kSbuf, p, 1, DType::kF32,
                                             RandomFloats(random, p, -1, 1));
    const AccessPattern dst = RandomOperand(bench, random, Memory::kSbuf, p, n, to);
    const AccessPattern res = RandomOperand(bench, random, Memory::kSbuf, p, 1, DType::kF32);
    Call call = Reduce(bench, dst, x, op0, reduce);
    call.Op("operand0", operand).Op("reduce_res", res);
    if (trial % 2) call.Name("reduce_cmd", ReduceCmd::kLoadReduce).Op("reduce_init", init);
    ExpectOk(call.Issue());
    std::vector<float> want = Bench::Read(x), results;
    const std::vector<float> b = Bench::Read(operand), start = Bench::Read(init);
    for (int64_t r = 0; r < p; ++r) {
      double result = reduce == AluOp::kAdd        ? 0
                      : reduce == AluOp::kMultiply ? 1
                      : reduce == AluOp::kMaximum  ? -INFINITY
                                                   : INFINITY;
      if (trial % 2) result = start[size_t(r)];
      for (int64_t i = 0; i < n; ++i) {
        float& value = want[size_t(r * n + i)];
        value = Apply(op0, value, b[size_t(r)]);
        result = reduce == AluOp::kAdd        ? result + value
                 : reduce == AluOp::kMultiply ? result * value
                 : reduce == AluOp::kMaximum  ? std::max(result, double(value))
                                              : std::min(result, double(value));
      }
      results.push_back(float(result));
    }
    ExpectSame(Bench::Read(dst), AsStored(to, want));
    ExpectNear(Bench::Read(res), results, 1e-5f);
  }
}

TEST(TensorScalarReduce, Refusals) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 3, DType::kF32, {1, 2, 3});
  const auto call = [&](AluOp op0, AluOp reduce_op) {
    return Reduce(bench, All(x), All(x), op0, reduce_op);
  };
  ExpectRefused(call(AluOp::kAdd, AluOp::kSubtract).Float("operand0", 0).Issue(),
                ErrorClass::kArgument, "reduce_op is subtract");
  ExpectRefused(call(AluOp::kBitwiseAnd, AluOp::kAdd).Float("operand0", 0).Issue(),
                ErrorClass::kArgument, "arithmetic");
  ExpectRefused(call(AluOp::kAdd, AluOp::kAdd).Issue(), ErrorClass::kArgument, "operand0");
  ExpectRefused(call(AluOp::kAbs, AluOp::kAdd).Float("operand0", 2).Issue(), ErrorClass::kArgument,
                "one input");
  ExpectRefused(call(AluOp::kAdd, AluOp::kAdd).Float("operand0", 0).Bool("reverse0", true).Issue(),
                ErrorClass::kArgument, "reverse0");
  ExpectRefused(call(AluOp::kAdd, AluOp::kAdd).Float("operand0", 0).Float("reduce_init", 1).Issue(),
                ErrorClass::kArgument, "exactly with load_reduce");
  ExpectRefused(call(AluOp::kAdd, AluOp::kAdd)
                    .Float("operand0", 0)
                    .Name("reduce_cmd", ReduceCmd::kReduce)
                    .Issue(),
                ErrorClass::kUndefined, "begin with reset_reduce");
}

Call Cumulative(Bench& bench, const AccessPattern& dst, const AccessPattern& src, AluOp op0,
                double imm0, AluOp op1) {
  Call call = bench.Call("tensor_scalar_cumulative");
  call.Op("dst", dst).Op("src", src).Name("op0", op0).Float("imm0", imm0).Name("op1", op1);
  return call;
}

TEST(TensorScalarCumulative, RunningSumAndProduct) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 4, DType::kF32, {1, 2, 3, 4});
  Tensor* dst = bench.Sbuf("dst", 1, 4, DType::kF32);
  ExpectOk(Cumulative(bench, All(dst), All(x), AluOp::kMultiply, 2, AluOp::kAdd).Issue());
  ExpectSame(Bench::Read(dst), {2, 6, 12, 20});
  ExpectOk(Cumulative(bench, All(dst), All(x), AluOp::kAdd, 1, AluOp::kMultiply).Issue());
  ExpectSame(Bench::Read(dst), {2, 6, 24, 120});
}

TEST(TensorScalarCumulative, SubtractTakesTheRunningValueAway) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 3, DType::kF32, {1, 2, 3});
  Tensor* dst = bench.Sbuf("dst", 1, 3, DType::kF32);
  ExpectOk(Cumulative(bench, All(dst), All(x), AluOp::kAdd, 0, AluOp::kSubtract).Issue());
  ExpectSame(Bench::Read(dst), {1, 1, 2});
}

TEST(TensorScalarCumulative, GoesOnWhereTheLastOneEnded) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 2, DType::kF32, {1, 2});
  Tensor* dst = bench.Sbuf("dst", 1, 2, DType::kF32);
  const auto call = [&] {
    return Cumulative(bench, All(dst), All(x), AluOp::kAdd, 0, AluOp::kAdd);
  };
  ExpectOk(call().Name("reduce_cmd", ReduceCmd::kLoadReduce).Float("imm1", 10).Issue());
  ExpectSame(Bench::Read(dst), {11, 13});
  ExpectOk(call().Name("reduce_cmd", ReduceCmd::kReduce).Issue());
  ExpectSame(Bench::Read(dst), {14, 16});
}

TEST(TensorScalarCumulative, RandomAgainstTwin) {
  Philox random(2, 9);
  const std::vector<AluOp> ops = {AluOp::kAdd, AluOp::kSubtract, AluOp::kMultiply, AluOp::kMaximum,
                                  AluOp::kMinimum};
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(40));
    const AluOp op0 = ops[random.NextBelow(5)], op1 = ops[random.NextBelow(5)];
    const DType from = Pick(random, {DType::kF32, DType::kBF16, DType::kI8});
    const DType to = Pick(random, {DType::kF32, DType::kF16});
    const AccessPattern x = RandomOperand(bench, random, Memory::kSbuf, p, n, from,
                                          RandomFloats(random, p * n, -1.2f, 1.2f));
    const AccessPattern start = RandomOperand(bench, random, Memory::kSbuf, p, 1, DType::kF32,
                                              RandomFloats(random, p, -1, 1));
    const AccessPattern dst = RandomOperand(bench, random, Memory::kPsum, p, n, to);
    ExpectOk(Cumulative(bench, dst, x, op0, 0.75, op1)
                 .Name("reduce_cmd", ReduceCmd::kLoadReduce)
                 .Op("imm1", start)
                 .Issue());
    std::vector<float> want = Bench::Read(x), held = Bench::Read(start);
    for (int64_t i = 0; i < p * n; ++i) {
      float& value = want[size_t(i)];
      value = held[size_t(i / n)] = Apply(op1, Apply(op0, value, 0.75f), held[size_t(i / n)]);
    }
    ExpectSame(Bench::Read(dst), AsStored(to, want));
  }
}

TEST(TensorScalarCumulative, Refusals) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 2, DType::kF32, {1, 2});
  ExpectRefused(Cumulative(bench, All(x), All(x), AluOp::kAdd, 0, AluOp::kDivide).Issue(),
                ErrorClass::kArgument, "op1 is divide");
  ExpectRefused(Cumulative(bench, All(x), All(x), AluOp::kAdd, 0, AluOp::kAdd)
                    .Name("reduce_cmd", ReduceCmd::kLoadReduce)
                    .Issue(),
                ErrorClass::kArgument, "imm1 is not given");
  Tensor* wide = bench.Sbuf("wide", 1, 2, DType::kI32, {1, 2});
  ExpectRefused(Cumulative(bench, All(wide), All(x), AluOp::kAdd, 0, AluOp::kAdd).Issue(),
                ErrorClass::kDtype, "dst is i32");
}

}  // namespace
}  // namespace wt::chip::scalar_reduce_test
