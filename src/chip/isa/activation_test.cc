#include "chip/activation.h"

#include "chip/isa/testing.h"

namespace wt::chip::activation_instr_test {
namespace {

const std::vector<DType> kDtypes = {DType::kF32, DType::kBF16, DType::kF16, DType::kI32,
                                    DType::kU8};

Call Activate(Bench& bench, const AccessPattern& dst, const AccessPattern& data,
              Activation function) {
  Call call = bench.Call("activation");
  call.Op("dst", dst).Name("op", function).Op("data", data);
  return call;
}

TEST(ActivationInstr, ScaleAndBiasByPartition) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 2, DType::kF32, {1, 2, 3, 4});
  Tensor* y = bench.Sbuf("y", 2, 2, DType::kF32);
  Tensor* scale = bench.Sbuf("scale", 2, 1, DType::kF32, {2, 10});
  Tensor* bias = bench.Sbuf("bias", 2, 1, DType::kBF16, {1, -1});
  ExpectOk(Activate(bench, All(y), All(x), Activation::kSquare)
               .Op("scale", All(scale))
               .Op("bias", All(bias))
               .Issue());
  ExpectSame(Bench::Read(y), {9, 25, 841, 1521});
}

TEST(ActivationInstr, RandomLayoutsTypesAndFunctions) {
  const std::vector<Activation> functions = {
      Activation::kExp,  Activation::kTanh, Activation::kGelu,
      Activation::kSilu, Activation::kRelu, Activation::kSigmoid,
      Activation::kCopy, Activation::kErf,  Activation::kCos};
  Philox random(71, 0);
  for (int trial = 0; trial < 2 * kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(60));
    const DType from = Pick(random, kDtypes);
    const Activation function = functions[random.NextBelow(functions.size())];
    const std::vector<float> x = AsStored(from, RandomFloats(random, p * n, -4, 4));
    const std::vector<float> bias = RandomFloats(random, p, -1, 1);
    const AccessPattern dst = RandomOperand(bench, random, Memory::kPsum, p, n, DType::kF32);
    ExpectOk(
        Activate(bench, dst, RandomOperand(bench, random, Memory::kSbuf, p, n, from, x), function)
            .Op("bias", RandomOperand(bench, random, Memory::kSbuf, p, 1, DType::kF32, bias))
            .Float("scale", 0.5)
            .Issue());
    std::vector<float> want(x.size());
    for (size_t i = 0; i < want.size(); ++i)
      want[i] = static_cast<float>(ActivationExact(function, x[i] * 0.5f + bias[i / size_t(n)]));
    ExpectNear(Bench::Read(dst), want, 2e-6f);
  }
}

TEST(ActivationInstr, AccumulatesRowSums) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 3, DType::kF32, {1, 2, 3, 4, 5, 6});
  Tensor* y = bench.Sbuf("y", 2, 3, DType::kF32);
  Tensor* sums = bench.Sbuf("sums", 2, 1, DType::kF32);
  const auto run = [&](ReduceCmd cmd) {
    return Activate(bench, All(y), All(x), Activation::kCopy)
        .Name("reduce_op", AluOp::kAdd)
        .Op("reduce_res", All(sums))
        .Name("reduce_cmd", cmd)
        .Issue();
  };
  ExpectOk(run(ReduceCmd::kResetReduce));
  ExpectSame(Bench::Read(sums), {6, 15});
  ExpectOk(run(ReduceCmd::kReduce));
  ExpectSame(Bench::Read(sums), {12, 30});
  ExpectOk(run(ReduceCmd::kIdle));
  ExpectSame(Bench::Read(sums), {12, 30});
  ExpectOk(run(ReduceCmd::kReset));
  ExpectSame(Bench::Read(sums), {0, 0});
  ExpectOk(bench.Call("activation_reduce")
               .Op("dst", All(y))
               .Name("op", Activation::kSquare)
               .Op("data", All(x))
               .Name("reduce_op", AluOp::kAdd)
               .Op("reduce_res", All(sums))
               .Issue());
  ExpectSame(Bench::Read(sums), {14, 77});
}

TEST(ActivationInstr, OutsideTheDocumentedRangeIsUndefined) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 2, DType::kF32, {1, 2, 3, -4});
  Tensor* y = bench.Sbuf("y", 2, 2, DType::kF32, {7, 7, 7, 7});
  ExpectRefused(Activate(bench, All(y), All(x), Activation::kLog).Issue(), ErrorClass::kUndefined,
                "log of -4 (partition 1, element 1)");
  ExpectSame(Bench::Read(y), {7, 7, 7, 7});  // nothing was written
  ExpectRefused(Activate(bench, All(y), All(x), Activation::kReciprocal).Float("scale", 0).Issue(),
                ErrorClass::kUndefined, "magnitudes");
  ExpectOk(Activate(bench, All(y), All(x), Activation::kLog).Float("bias", 5).Issue());
  ExpectOk(Activate(bench, All(y), All(x), Activation::kSin).Issue());  // wrong there, and defined
  EXPECT_NEAR(Bench::Read(y)[3], ActivationExact(Activation::kSin, -4), 1e-5);
  CoreOptions options;
  options.check_ranges = false;
  Bench lax(Generation::kGen3, options);
  Tensor* z = lax.Sbuf("z", 1, 1, DType::kF32, {-1});
  ExpectOk(Activate(lax, All(z), All(z), Activation::kSqrt).Issue());
  EXPECT_TRUE(std::isnan(Bench::Read(z)[0]));
}

TEST(ActivationInstr, Refusals) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 2, DType::kF32, {1, 2, 3, 4});
  Tensor* half = bench.Sbuf("half", 2, 1, DType::kBF16, {1, 2});
  const auto exp = [&] { return Activate(bench, All(x), All(x), Activation::kExp); };
  ExpectRefused(exp().Op("scale", All(half)).Issue(), ErrorClass::kDtype, "scale is bf16");
  ExpectRefused(exp().Op("bias", All(x)).Issue(), ErrorClass::kShape, "bias is [2, 2]");
  ExpectRefused(exp().Name("reduce_cmd", ReduceCmd::kReduce).Issue(), ErrorClass::kArgument,
                "reduce_op is missing");
  ExpectRefused(exp().Name("reduce_op", AluOp::kMaximum).Issue(), ErrorClass::kArgument,
                "expected add");
  ExpectRefused(exp().Name("reduce_cmd", ReduceCmd::kLoadReduce).Issue(), ErrorClass::kArgument,
                "load_reduce");
  Bench old(Generation::kGen2);
  Tensor* z = old.Sbuf("z", 1, 1, DType::kF32, {1});
  ExpectRefused(Activate(old, All(z), All(z), Activation::kExp).Float("bias", 1).Issue(),
                ErrorClass::kGeneration, "[P, 1] tensor");
}

TEST(Activate2, ThreeStages) {
  Bench bench(Generation::kGen4);
  Tensor* x = bench.Sbuf("x", 2, 2, DType::kF32, {1, 2, -3, 4});
  Tensor* y = bench.Sbuf("y", 2, 2, DType::kF32);
  Tensor* largest = bench.Sbuf("largest", 2, 1, DType::kF32);
  const auto run = [&](AluOp op0, AluOp op1) {
    return bench.Call("activate2")
        .Op("dst", All(y))
        .Name("op", Activation::kPrelu)
        .Op("data", All(x))
        .Float("imm0", 2)
        .Float("imm1", 1)
        .Name("op0", op0)
        .Name("op1", op1)
        .Float("relu_param", 0.5)
        .Bool("reverse1", op1 != AluOp::kBypass)
        .Name("reduce_op", AluOp::kMaximum)
        .Name("reduce_cmd", ReduceCmd::kResetReduce)
        .Op("reduce_res", All(largest))
        .Issue();
  };
  ExpectOk(run(AluOp::kMultiply, AluOp::kSubtract));  // 1 - 2x
  ExpectSame(Bench::Read(y), {-0.5, -1.5, 7, -3.5});
  ExpectSame(Bench::Read(largest), {-0.5, 7});
  ExpectOk(run(AluOp::kBypass, AluOp::kBypass));
  ExpectSame(Bench::Read(y), {1, 2, -1.5, 4});
  ExpectRefused(run(AluOp::kAdd, AluOp::kMultiply), ErrorClass::kArgument, "not a pair");
}

TEST(Activate2, CameWithGeneration4) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 1, DType::kF32, {1});
  ExpectRefused(bench.Call("activate2").Op("dst", All(x)).Issue(), ErrorClass::kGeneration, "trn2");
}

TEST(Exponential, SubtractsTheLargestAndSums) {
  Bench bench(Generation::kGen4);
  Tensor* x = bench.Sbuf("x", 2, 2, DType::kF32, {1, 2, 3, 4});
  Tensor* largest = bench.Sbuf("largest", 2, 1, DType::kF32, {2, 4});
  Tensor* y = bench.Sbuf("y", 2, 2, DType::kF32);
  Tensor* sums = bench.Sbuf("sums", 2, 1, DType::kF32);
  const auto run = [&](ReduceCmd cmd) {
    Call call = bench.Call("exponential");
    call.Op("dst", All(y)).Op("src", All(x)).Op("max_value", All(largest)).Name("reduce_cmd", cmd);
    if (cmd != ReduceCmd::kIdle) call.Op("reduce_res", All(sums));
    if (cmd == ReduceCmd::kLoadReduce) call.Float("reduce_init", 10);
    return call.Issue();
  };
  const float e = std::exp(-1.0f);
  ExpectRefused(run(ReduceCmd::kReduce), ErrorClass::kUndefined, "reset_reduce");
  ExpectOk(run(ReduceCmd::kResetReduce));
  ExpectNear(Bench::Read(y), {e, 1, e, 1}, 1e-6f);
  ExpectNear(Bench::Read(sums), {1 + e, 1 + e}, 1e-6f);
  ExpectOk(run(ReduceCmd::kReduce));
  ExpectNear(Bench::Read(sums), {2 + 2 * e, 2 + 2 * e}, 1e-6f);
  ExpectOk(run(ReduceCmd::kLoadReduce));
  ExpectNear(Bench::Read(sums), {11 + e, 11 + e}, 1e-6f);
  ExpectOk(run(ReduceCmd::kIdle));
  ExpectRefused(run(ReduceCmd::kReduce), ErrorClass::kUndefined, "reset_reduce");
  ExpectRefused(run(ReduceCmd::kReset), ErrorClass::kArgument, "reset");
}

}  // namespace
}  // namespace wt::chip::activation_instr_test
