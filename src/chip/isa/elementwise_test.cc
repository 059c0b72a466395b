#include "chip/alu.h"
#include "chip/isa/testing.h"

namespace wt::chip::elementwise_test {
namespace {

const std::vector<DType> kElementTypes = {DType::kF32, DType::kBF16, DType::kF16, DType::kF8E4M3,
                                          DType::kI32, DType::kI16,  DType::kU8};
const std::vector<AluOp> kOps = {AluOp::kAdd,     AluOp::kSubtract,   AluOp::kMultiply,
                                 AluOp::kMaximum, AluOp::kMinimum,    AluOp::kEqual,
                                 AluOp::kLess,    AluOp::kLogicalAnd, AluOp::kNotEqual};

AluOp PickOp(Philox& random) { return kOps[random.NextBelow(kOps.size())]; }
Memory AnyMemory(Philox& random) { return random.NextBelow(2) ? Memory::kSbuf : Memory::kPsum; }

Status TensorTensor(Bench& bench, const AccessPattern& dst, const AccessPattern& a,
                    const AccessPattern& b, AluOp op, Engine engine = Engine::kUnknown) {
  return bench.Call("tensor_tensor")
      .Op("dst", dst)
      .Op("data1", a)
      .Op("data2", b)
      .Name("op", op)
      .Name("engine", engine)
      .Issue();
}

TEST(TensorTensor, RoundsToTheTypeOfDst) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 2, 2, DType::kBF16, {1, 2, 3, 4});
  Tensor* b = bench.Sbuf("b", 2, 2, DType::kF32, {0.001f, 0.5f, -3, 300});
  Tensor* c = bench.Sbuf("c", 2, 2, DType::kBF16);
  ExpectOk(TensorTensor(bench, All(c), All(a), All(b), AluOp::kAdd));
  ExpectSame(Bench::Read(c), {1, 2.5, 0, 304});
  ExpectOk(TensorTensor(bench, All(c), All(a), All(b), AluOp::kGreater));
  ExpectSame(Bench::Read(c), {1, 1, 1, 0});
}

TEST(TensorTensor, RandomLayoutsTypesAndOperations) {
  Philox random(51, 0);
  for (int trial = 0; trial < 3 * kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(70));
    const DType ta = Pick(random, kElementTypes), tb = Pick(random, kElementTypes),
                to = Pick(random, kElementTypes);
    const AluOp op = PickOp(random);
    const std::vector<float> a = AsStored(ta, RandomWhole(random, p * n, -9, 9));
    const std::vector<float> b = AsStored(tb, RandomFloats(random, p * n));
    const AccessPattern x = RandomOperand(bench, random, Memory::kSbuf, p, n, ta, a);
    const AccessPattern y = RandomOperand(bench, random, AnyMemory(random), p, n, tb, b);
    const AccessPattern dst = RandomOperand(bench, random, AnyMemory(random), p, n, to);
    ExpectOk(TensorTensor(bench, dst, x, y, op));
    std::vector<float> want(a.size());
    for (size_t i = 0; i < a.size(); ++i) want[i] = Apply(op, a[i], b[i]);
    ExpectSame(Bench::Read(dst), AsStored(to, want));
  }
}

TEST(TensorTensor, InPlaceAndOverlapping) {
  Philox random(52, 0);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const DType dtype = Pick(random, {DType::kF32, DType::kBF16});
    Tensor* x = bench.Sbuf("x", 128, 60, dtype, RandomWhole(random, 128 * 60, 0, 50));
    const auto place = [&] {
      return Slice(x, int(random.NextBelow(4)) * 32, 32, int64_t(random.NextBelow(20)), 20,
                   1 + int64_t(random.NextBelow(2)));
    };
    const AccessPattern a = place(), b = place(), dst = random.NextBelow(3) ? place() : a;
    const std::vector<float> va = Bench::Read(a), vb = Bench::Read(b);
    ExpectOk(TensorTensor(bench, dst, a, b, AluOp::kAdd));
    std::vector<float> want(va.size());
    for (size_t i = 0; i < va.size(); ++i) want[i] = va[i] + vb[i];
    ExpectSame(Bench::Read(dst), AsStored(dtype, want));
  }
}

TEST(TensorTensor, IntegersAreExactOnGpSimdOnly) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 1, 1, DType::kI32);
  Tensor* one = bench.Sbuf("one", 1, 1, DType::kI32, {1});
  Tensor* c = bench.Sbuf("c", 1, 1, DType::kI32);
  WriteBits(All(a), {16777217});
  ExpectOk(TensorTensor(bench, All(c), All(a), All(one), AluOp::kAdd));
  EXPECT_EQ(ReadBits(All(c))[0], 16777218u);
  ExpectOk(TensorTensor(bench, All(c), All(a), All(one), AluOp::kAdd, Engine::kVector));
  EXPECT_EQ(ReadBits(All(c))[0], 16777216u);  // through fp32
}

TEST(TensorTensor, BitsAreBits) {
  Bench bench;
  Tensor* a = bench.Sbuf("a", 1, 3, DType::kU8, {0x0f, 0xf0, 3});
  Tensor* b = bench.Sbuf("b", 1, 3, DType::kU8, {0x3c, 0x3c, 6});
  Tensor* c = bench.Sbuf("c", 1, 3, DType::kU8);
  ExpectOk(TensorTensor(bench, All(c), All(a), All(b), AluOp::kBitwiseXor));
  ExpectSame(Bench::Read(c), {0x33, 0xcc, 5});
  ExpectOk(TensorTensor(bench, All(c), All(a), All(b), AluOp::kLeftShift));
  ExpectSame(Bench::Read(c), {0, 0, 192});
}

TEST(TensorTensor, Refusals) {
  Bench bench;
  Tensor* a = bench.Psum("a", 2, 2, DType::kF32, {1, 2, 3, 4});
  Tensor* b = bench.Psum("b", 2, 2, DType::kF32, {1, 2, 3, 4});
  Tensor* c = bench.Sbuf("c", 2, 2, DType::kF32, {1, 2, 3, 4});
  ExpectRefused(TensorTensor(bench, All(c), All(a), All(b), AluOp::kAdd), ErrorClass::kMemory,
                "both in psum");
  ExpectRefused(TensorTensor(bench, All(c), All(c), All(c), AluOp::kBitwiseAnd), ErrorClass::kDtype,
                "integers");
  ExpectRefused(TensorTensor(bench, All(c), All(c), All(c), AluOp::kReciprocal),
                ErrorClass::kArgument, "two inputs");
  ExpectRefused(TensorTensor(bench, All(c), All(c), All(c), AluOp::kAbsMax),
                ErrorClass::kGeneration, "abs_max");
  ExpectRefused(TensorTensor(bench, All(c), All(c), All(c), AluOp::kPower, Engine::kVector),
                ErrorClass::kEngine, "gpsimd");
  ExpectRefused(TensorTensor(bench, All(c), All(a), All(c), AluOp::kPower), ErrorClass::kMemory,
                "PSUM");
  ExpectRefused(TensorTensor(bench, Slice(c, 0, 2, 0, 1), All(c), All(c), AluOp::kAdd),
                ErrorClass::kShape, "must be equal");
}

TEST(TensorScalar, TwoStagesRandom) {
  Philox random(53, 0);
  for (int trial = 0; trial < 2 * kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(70));
    const DType from = Pick(random, kElementTypes), to = Pick(random, kElementTypes);
    const AluOp op0 = PickOp(random), op1 = PickOp(random);
    const bool reverse0 = random.NextBelow(2), reverse1 = random.NextBelow(2),
               two = random.NextBelow(3);
    const std::vector<float> data = AsStored(from, RandomFloats(random, p * n));
    const std::vector<float> column = RandomWhole(random, p, -3, 3);
    const AccessPattern dst = RandomOperand(bench, random, AnyMemory(random), p, n, to);
    Call call = bench.Call("tensor_scalar");
    call.Op("dst", dst)
        .Op("data", RandomOperand(bench, random, AnyMemory(random), p, n, from, data))
        .Name("op0", op0)
        .Op("operand0", RandomOperand(bench, random, AnyMemory(random), p, 1, DType::kF32, column))
        .Bool("reverse0", reverse0);
    if (two) call.Name("op1", op1).Float("operand1", 1.5).Bool("reverse1", reverse1);
    ExpectOk(call.Issue());
    std::vector<float> want(data.size());
    for (size_t i = 0; i < want.size(); ++i) {
      const float c = column[i / size_t(n)];
      const float t = reverse0 ? Apply(op0, c, data[i]) : Apply(op0, data[i], c);
      want[i] = !two ? t : reverse1 ? Apply(op1, 1.5f, t) : Apply(op1, t, 1.5f);
    }
    ExpectSame(Bench::Read(dst), AsStored(to, want));
  }
}

Call Scalar(Bench& bench, Tensor* dst, Tensor* data, AluOp op) {
  Call call = bench.Call("tensor_scalar");
  call.Op("dst", All(dst)).Op("data", All(data)).Name("op0", op);
  return call;
}

TEST(TensorScalar, UnaryAndBitwise) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 2, DType::kF32, {4, 0.25});
  Tensor* y = bench.Sbuf("y", 1, 2, DType::kF32);
  ExpectOk(Scalar(bench, y, x, AluOp::kRsqrt).Float("operand0", 0).Issue());
  ExpectSame(Bench::Read(y), {0.5, 2});
  Tensor* bits = bench.Sbuf("bits", 1, 2, DType::kU16, {0x00ff, 0x1234});
  Tensor* out = bench.Sbuf("out", 1, 2, DType::kU16);
  ExpectOk(Scalar(bench, out, bits, AluOp::kRightShift)
               .Int("operand0", 4)
               .Name("op1", AluOp::kBitwiseAnd)
               .Int("operand1", 0xf)
               .Issue());
  ExpectSame(Bench::Read(out), {15, 3});
}

TEST(TensorScalar, Refusals) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 2, DType::kF32, {1, 2, 3, 4});
  Tensor* half = bench.Sbuf("half", 2, 1, DType::kBF16, {1, 2});
  ExpectRefused(Scalar(bench, x, x, AluOp::kAdd).Issue(), ErrorClass::kArgument,
                "operand0 is missing");
  ExpectRefused(Scalar(bench, x, x, AluOp::kAdd).Op("operand0", All(half)).Issue(),
                ErrorClass::kDtype, "expect f32");
  ExpectRefused(Scalar(bench, x, x, AluOp::kAdd).Op("operand0", All(x)).Issue(), ErrorClass::kShape,
                "[2, 1]");
  ExpectRefused(Scalar(bench, x, x, AluOp::kAdd)
                    .Float("operand0", 1)
                    .Name("op1", AluOp::kBitwiseOr)
                    .Int("operand1", 1)
                    .Issue(),
                ErrorClass::kArgument, "both on numbers");
  ExpectRefused(Scalar(bench, x, x, AluOp::kSubtract)
                    .Float("operand0", 1)
                    .Name("engine", Engine::kScalar)
                    .Issue(),
                ErrorClass::kEngine, "expected one of: vector");
  ExpectOk(Scalar(bench, x, x, AluOp::kMultiply)
               .Float("operand0", 1)
               .Name("engine", Engine::kScalar)
               .Issue());
}

TEST(ScalarTensorTensor, RandomLayouts) {
  Philox random(54, 0);
  for (int trial = 0; trial < kTrials; ++trial) {
    Bench bench;
    const int64_t p = 1 + int64_t(random.NextBelow(128)), n = 1 + int64_t(random.NextBelow(70));
    const DType ta = Pick(random, kElementTypes), tb = Pick(random, kElementTypes),
                to = Pick(random, kElementTypes);
    const AluOp op0 = PickOp(random), op1 = PickOp(random);
    const bool reverse0 = random.NextBelow(2), reverse1 = random.NextBelow(2);
    const std::vector<float> a = AsStored(ta, RandomFloats(random, p * n));
    const std::vector<float> b = AsStored(tb, RandomFloats(random, p * n));
    const std::vector<float> column = AsStored(DType::kBF16, RandomFloats(random, p));
    const AccessPattern dst = RandomOperand(bench, random, AnyMemory(random), p, n, to);
    ExpectOk(
        bench.Call("scalar_tensor_tensor")
            .Op("dst", dst)
            .Op("data", RandomOperand(bench, random, Memory::kSbuf, p, n, ta, a))
            .Name("op0", op0)
            .Op("operand0", RandomOperand(bench, random, Memory::kSbuf, p, 1, DType::kBF16, column))
            .Name("op1", op1)
            .Op("operand1", RandomOperand(bench, random, AnyMemory(random), p, n, tb, b))
            .Bool("reverse0", reverse0)
            .Bool("reverse1", reverse1)
            .Issue());
    std::vector<float> want(a.size());
    for (size_t i = 0; i < want.size(); ++i) {
      const float c = column[i / size_t(n)];
      const float t = reverse0 ? Apply(op0, c, a[i]) : Apply(op0, a[i], c);
      want[i] = reverse1 ? Apply(op1, b[i], t) : Apply(op1, t, b[i]);
    }
    ExpectSame(Bench::Read(dst), AsStored(to, want));
  }
}

TEST(ScalarTensorTensor, RefusesBitwise) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 2, 2, DType::kI32, {1, 2, 3, 4});
  ExpectRefused(bench.Call("scalar_tensor_tensor")
                    .Op("dst", All(x))
                    .Op("data", All(x))
                    .Name("op0", AluOp::kBitwiseAnd)
                    .Float("operand0", 1)
                    .Name("op1", AluOp::kAdd)
                    .Op("operand1", All(x))
                    .Issue(),
                ErrorClass::kArgument, "bitwise_and");
}

TEST(Reciprocal, IsTheQuotient) {
  Bench bench;
  Tensor* x = bench.Psum("x", 2, 2, DType::kF32, {4, -0.5, 3, 0});
  Tensor* y = bench.Sbuf("y", 2, 2, DType::kF32);
  Tensor* half = bench.Sbuf("half", 2, 2, DType::kBF16);
  const auto run = [&](Tensor* dst) {
    return bench.Call("reciprocal").Op("dst", All(dst)).Op("data", All(x)).Issue();
  };
  ExpectOk(run(y));
  ExpectSame(Bench::Read(y), {0.25, -2, 1.0f / 3.0f, INFINITY});
  ExpectOk(run(half));
  ExpectSame(Bench::Read(half), AsStored(DType::kBF16, {0.25, -2, 1.0f / 3.0f, INFINITY}));
  Tensor* wrong = bench.Sbuf("wrong", 2, 3, DType::kF32);
  ExpectRefused(run(wrong), ErrorClass::kShape, "must be equal");
}

}  // namespace
}  // namespace wt::chip::elementwise_test
