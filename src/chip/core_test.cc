#include "chip/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chip/testing.h"

namespace wt::chip::core_test {
namespace {

TensorSpec SbufSpec(int64_t partitions, int64_t bytes, std::optional<Address> address = {}) {
  TensorSpec spec;
  spec.partitions = partitions;
  spec.partition_bytes = bytes;
  spec.address = address;
  spec.name = "t";
  return spec;
}

TEST(Core, TensorThatCanNeverFitIsACapacityError) {
  Bench bench;
  const Result<Tensor*> tensor = bench.core().Allocate(SbufSpec(128, 209 << 10));
  ASSERT_FALSE(tensor.ok());
  EXPECT_EQ(ClassOf(tensor.status()), ErrorClass::kCapacity);
  EXPECT_EQ(ClassOf(bench.core().Allocate(SbufSpec(129, 4)).status()), ErrorClass::kPartitions);
  EXPECT_EQ(ClassOf(bench.core().Allocate(SbufSpec(64, 4, Address{96, 0})).status()),
            ErrorClass::kCapacity);
}

TEST(Core, AddressesAreMultiplesOfTheElement) {
  Bench bench;
  TensorSpec spec = SbufSpec(2, 16, Address{0, 10006});
  spec.dtype = DType::kBF16;
  EXPECT_TRUE(bench.core().Allocate(spec).ok());
  spec.dtype = DType::kF32;
  const Result<Tensor*> tensor = bench.core().Allocate(spec);
  ASSERT_FALSE(tensor.ok());
  EXPECT_EQ(ClassOf(tensor.status()), ErrorClass::kCapacity);
  EXPECT_THAT(tensor.status().message(), testing::HasSubstr("expected a multiple of 4"));
}

TEST(Core, TensorsAtOneAddressShareBytes) {
  Bench bench;
  Tensor* a = *bench.core().Allocate(SbufSpec(2, 16, Address{32, 64}));
  Tensor* b = *bench.core().Allocate(SbufSpec(2, 8, Address{32, 72}));
  a->dtype = b->dtype = DType::kF32;
  ASSERT_TRUE(bench.Call("memset").Op("dst", All(a)).Float("value", 3).Issue().ok());
  Tensor* copy = bench.Sbuf("copy", 2, 2, DType::kF32);
  ASSERT_TRUE(bench.Call("tensor_copy").Op("dst", All(copy)).Op("src", All(b)).Issue().ok());
  EXPECT_EQ(bench.Read(copy), std::vector<float>(4, 3.0f));
}

TEST(Core, UninitializedReadNamesTheElement) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 4, 8, DType::kF32);
  Tensor* y = bench.Sbuf("y", 4, 8, DType::kF32);
  for (int64_t start : {0, 1})  // all but every second element of the last partition
    ASSERT_TRUE(bench.Call("memset")
                    .Op("dst", Slice(x, 0, 4 - start, start, 4, 2))
                    .Float("value", 1)
                    .Issue()
                    .ok());
  const Status status = bench.Call("tensor_copy").Op("dst", All(y)).Op("src", All(x)).Issue();
  EXPECT_EQ(ClassOf(status), ErrorClass::kUninitialized);
  EXPECT_THAT(status.message(), testing::HasSubstr("partition 3, element 1 "));
  EXPECT_TRUE(bench.Call("tensor_copy")
                  .Op("dst", Slice(y, 0, 4, 0, 4, 2))
                  .Op("src", Slice(x, 0, 4, 0, 4, 2))
                  .Issue()
                  .ok());
}

TEST(Core, LimitAndSourceAreInTheMessage) {
  CoreOptions options;
  options.max_instructions = 1;
  Bench bench(Generation::kGen3, options);
  Tensor* x = bench.Sbuf("x", 4, 8, DType::kF32);
  Call call = bench.Call("memset").Op("dst", All(x)).Float("value", 0);
  call.instr().source = bench.core().sources().Add("/a/kernel.py", 42, "f");
  EXPECT_TRUE(call.Issue().ok());
  const Status status = call.Issue();
  EXPECT_EQ(ClassOf(status), ErrorClass::kLimit);
  EXPECT_THAT(status.message(), testing::HasSubstr("(at kernel.py:42)"));
}

TEST(Core, ReadScalarOfTilesAndRegisters) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 2, DType::kI32, {7, -3});
  EXPECT_EQ(*bench.core().ReadScalar(Slice(x, 0, 1, 1, 1)), -3);
  EXPECT_EQ(ClassOf(bench.core().ReadScalar(All(x)).status()), ErrorClass::kShape);
  TensorSpec spec;
  spec.memory = Memory::kRegister;
  spec.is_register = true;
  spec.partition_bytes = 4;
  spec.dtype = DType::kI32;
  Tensor* fresh = *bench.core().Allocate(spec);
  EXPECT_EQ(ClassOf(bench.core().ReadScalar(All(fresh)).status()), ErrorClass::kUninitialized);
}

TEST(Core, ReleasedMemoryComesBackUndefined) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 4, 4, DType::kF32, std::vector<float>(16, 1));
  bench.core().Release(x);
  Tensor* y = bench.Sbuf("y", 4, 4, DType::kF32);
  EXPECT_TRUE(FirstUnwritten(All(y)));
}

TEST(Core, HostBytesComeInAsTheyAre) {
  Bench bench;
  TensorSpec spec;
  spec.memory = Memory::kHbm;
  spec.partition_bytes = 8;
  const float values[] = {1.5f, -2};
  Tensor* x = *bench.core().AllocateFrom(spec, values);
  EXPECT_EQ(Bench::Read(x), (std::vector<float>{1.5f, -2}));
}

class Counter : public CoreObserver {
 public:
  void OnAllocate(const Tensor&) override { ++allocated; }
  void OnRelease(const Tensor&) override { ++released; }
  void OnInstr(const Machine&, const Instr& instr) override { last = instr.number; }
  int allocated = 0, released = 0;
  uint64_t last = 0;
};

TEST(Core, ObserversSeeEverything) {
  Bench bench;
  Counter counter;
  bench.core().AddObserver(&counter);
  Tensor* x = bench.Sbuf("x", 1, 1, DType::kF32);
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(bench.Call("memset").Op("dst", All(x)).Float("value", 0).Issue().ok());
  bench.core().Release(x);
  EXPECT_EQ(counter.allocated, 1);
  EXPECT_EQ(counter.released, 1);
  EXPECT_EQ(counter.last, 3u);
}

}  // namespace
}  // namespace wt::chip::core_test
