#include "chip/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "chip/testing.h"

namespace wt::chip {
namespace {

std::vector<float> Counting(int64_t n, float start = 0) {
  std::vector<float> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), start);
  return values;
}

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

TEST(Legality, StartPartitionFollowsTheQuarters) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 128, 8, DType::kF32);
  const auto memset = [&](int start, int span) {
    return bench.Call("memset").Op("dst", Slice(x, start, span, 0, 8)).Float("value", 0).Issue();
  };
  EXPECT_TRUE(memset(96, 32).ok());
  EXPECT_TRUE(memset(64, 64).ok());
  EXPECT_EQ(ClassOf(memset(32, 64)), ErrorClass::kPartitions);
  EXPECT_EQ(ClassOf(memset(5, 1)), ErrorClass::kPartitions);
  EXPECT_EQ(ClassOf(memset(96, 33)), ErrorClass::kPartitions);
  EXPECT_EQ(ClassOf(memset(96, 64)), ErrorClass::kPartitions);
}

TEST(DmaCopy, GathersRowsAndSkipsThoseOutOfBounds) {
  Bench bench;
  Tensor* table = bench.Hbm("table", 6 * 4, DType::kF32, Counting(24));
  Tensor* index = bench.Sbuf("index", 3, 1, DType::kI32, {4, 9, 0});
  Tensor* rows = bench.Sbuf("rows", 3, 4, DType::kF32, std::vector<float>(12, -1));
  const auto gather = [&](OobMode mode) {
    return bench.Call("dma_copy")
        .Op("dst", All(rows))
        .Op("src", Matrix(table, 3, 4))
        .Offset("src", All(index), 4, true)
        .Name("oob_mode", mode)
        .Issue();
  };
  const Status refused = gather(OobMode::kError);
  EXPECT_EQ(ClassOf(refused), ErrorClass::kOutOfBounds) << refused.message();
  ASSERT_TRUE(gather(OobMode::kSkip).ok());
  EXPECT_EQ(bench.Read(rows), (std::vector<float>{16, 17, 18, 19, -1, -1, -1, -1, 0, 1, 2, 3}));
}

}  // namespace
}  // namespace wt::chip
