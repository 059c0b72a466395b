#include "chip/isa/testing.h"

namespace wt::chip::registers_test {
namespace {

Tensor* Register(Bench& bench) {
  TensorSpec spec;
  spec.memory = Memory::kRegister;
  spec.is_register = true;
  spec.dtype = DType::kI32;
  spec.partition_bytes = 4;
  spec.name = "register";
  Result<Tensor*> tensor = bench.core().Allocate(spec);
  WT_CHECK(tensor.ok(), "{}", tensor.status().message());
  return *tensor;
}

int64_t Value(Bench& bench, Tensor* tensor) {
  const Result<int64_t> value = bench.core().ReadScalar(All(tensor));
  EXPECT_TRUE(value.ok()) << value.status().message();
  return value.ok() ? *value : 0;
}

Status Move(Bench& bench, Tensor* dst, Tensor* src) {
  return bench.Call("register_move").Op("dst", All(dst)).Op("src", All(src)).Issue();
}
Status Set(Bench& bench, Tensor* dst, int64_t value) {
  return bench.Call("register_move").Op("dst", All(dst)).Int("src", value).Issue();
}
Status Load(Bench& bench, Tensor* dst, const AccessPattern& src) {
  return bench.Call("register_load").Op("dst", All(dst)).Op("src", src).Issue();
}
Status Store(Bench& bench, const AccessPattern& dst, Tensor* src) {
  return bench.Call("register_store").Op("dst", dst).Op("src", All(src)).Issue();
}

TEST(RegisterMove, ConstantsAndRegisters) {
  Bench bench;
  Tensor *a = Register(bench), *b = Register(bench);
  ExpectOk(Set(bench, a, -7));
  ExpectOk(Move(bench, b, a));
  EXPECT_EQ(Value(bench, b), -7);
  ExpectOk(Set(bench, a, 10));
  EXPECT_EQ(Value(bench, a), 10);
  EXPECT_EQ(Value(bench, b), -7);
}

TEST(RegisterMove, Refusals) {
  Bench bench;
  Tensor *a = Register(bench), *b = Register(bench);
  ExpectRefused(Move(bench, b, a), ErrorClass::kUninitialized, "src");
  ExpectRefused(Set(bench, a, int64_t{1} << 33), ErrorClass::kArgument, "4294967295");
  ExpectRefused(bench.Call("register_move").Op("dst", All(a)).Float("src", 1.5).Issue(),
                ErrorClass::kArgument, "whole number");
  Tensor* x = bench.Sbuf("x", 1, 1, DType::kI32, {1});
  ExpectRefused(Move(bench, a, x), ErrorClass::kMemory, "src is in sbuf");
}

TEST(RegisterLoad, ExtendsSignsAndKeepsBits) {
  Bench bench;
  Tensor* r = Register(bench);
  ExpectOk(Load(bench, r, All(bench.Sbuf("i8", 1, 1, DType::kI8, {-3}))));
  EXPECT_EQ(Value(bench, r), -3);
  ExpectOk(Load(bench, r, All(bench.Sbuf("u16", 1, 1, DType::kU16, {65535}))));
  EXPECT_EQ(Value(bench, r), 65535);
  ExpectOk(Load(bench, r, All(bench.Hbm("f32", 1, DType::kF32, {1}))));
  EXPECT_EQ(Value(bench, r), 0x3f800000);
  Tensor* row = bench.Sbuf("row", 1, 4, DType::kI32, {5, 6, 7, 8});
  ExpectOk(Load(bench, r, Slice(row, 0, 1, 2, 1)));
  EXPECT_EQ(Value(bench, r), 7);
}

TEST(RegisterLoad, RefusesTwoElements) {
  Bench bench;
  Tensor* row = bench.Sbuf("row", 1, 2, DType::kI32, {5, 6});
  ExpectRefused(Load(bench, Register(bench), All(row)), ErrorClass::kShape, "2 elements");
}

TEST(RegisterStore, LowBitsForNarrowElements) {
  Bench bench;
  Tensor* r = Register(bench);
  ExpectOk(Set(bench, r, 0x12345));
  Tensor* narrow = bench.Sbuf("narrow", 1, 2, DType::kU8, {0, 9});
  ExpectOk(Store(bench, Slice(narrow, 0, 1, 0, 1), r));
  ExpectSame(Bench::Read(narrow), {0x45, 9});
  Tensor* wide = bench.Hbm("wide", 1, DType::kI32);
  ExpectOk(Store(bench, All(wide), r));
  EXPECT_EQ(Value(bench, wide), 0x12345);
  ExpectOk(Set(bench, r, 0x40490fdb));
  Tensor* pi = bench.Sbuf("pi", 1, 1, DType::kF32);
  ExpectOk(Store(bench, All(pi), r));
  EXPECT_FLOAT_EQ(Bench::Read(pi)[0], 3.14159265f);
}

TEST(RegisterStore, RefusesPsum) {
  Bench bench;
  Tensor* r = Register(bench);
  ExpectOk(Set(bench, r, 1));
  ExpectRefused(Store(bench, All(bench.Psum("x", 1, 1, DType::kI32)), r), ErrorClass::kMemory,
                "dst is in psum");
}

}  // namespace
}  // namespace wt::chip::registers_test
