#include "chip/legality.h"

#include "chip/isa/testing.h"

namespace wt::chip::legality_test {
namespace {

Status Memset(Bench& bench, const AccessPattern& dst) {
  return bench.Call("memset").Op("dst", dst).Float("value", 0).Issue();
}

TEST(Legality, StartPartitionFollowsTheQuarters) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 128, 8, DType::kF32);
  const auto memset = [&](int start, int span) {
    return Memset(bench, Slice(x, start, span, 0, 8));
  };
  ExpectOk(memset(96, 32));
  ExpectOk(memset(64, 64));
  ExpectRefused(memset(32, 64), ErrorClass::kPartitions, "expected a start of 0 or 64");
  ExpectRefused(memset(5, 1), ErrorClass::kPartitions, "0, 32, 64 or 96");
  ExpectRefused(memset(96, 33), ErrorClass::kPartitions, "spans 33");
  ExpectRefused(memset(64, 128), ErrorClass::kPartitions, "expected a start of 0");
}

TEST(Legality, AddressesCountForStartPartitions) {
  Bench bench;
  TensorSpec spec;
  spec.partitions = 16;
  spec.partition_bytes = 32;
  spec.address = Address{16, 0};
  Tensor* x = *bench.core().Allocate(spec);
  ExpectRefused(Memset(bench, All(x)), ErrorClass::kPartitions, "starts at partition 16");
}

TEST(Legality, PartitionsMustBeNeighbours) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 128, 8, DType::kF32);
  AccessPattern every_other = Slice(x, 0, 32, 0, 8);
  every_other.dims[0].step = 2;
  ExpectRefused(Memset(bench, every_other), ErrorClass::kPartitions, "every 2-th");
}

TEST(Legality, FreeDimensionsAndElements) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 4096, DType::kU8);
  AccessPattern pattern = Pattern(x, DType::kU8, {1, 2, 2, 2, 2, 2});
  ExpectOk(Memset(bench, pattern));  // dense: one dimension
  for (int d = 1; d < 6; ++d) pattern.dims[size_t(d)].step *= 3 + 5 * (5 - d);
  ExpectRefused(Memset(bench, pattern), ErrorClass::kFreeSize, "walks 5 free dimensions");
  AccessPattern repeated = Pattern(x, DType::kU8, {1, 30, 4096});
  repeated.dims[1].step = 0;
  ExpectRefused(Memset(bench, repeated), ErrorClass::kFreeSize, "122880 elements");
}

TEST(Legality, Bounds) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 32, 8, DType::kF32);
  ExpectRefused(Memset(bench, Slice(x, 0, 33, 0, 8)), ErrorClass::kOutOfBounds,
                "partitions 0 to 32");
  ExpectRefused(Memset(bench, Slice(x, 0, 32, 1, 8)), ErrorClass::kOutOfBounds,
                "elements 1 to 8 of 8");
  AccessPattern backwards = Slice(x, 0, 32, 7, 8, -1);
  ExpectOk(Memset(bench, backwards));
  backwards.offset = 6;
  ExpectRefused(Memset(bench, backwards), ErrorClass::kOutOfBounds, "elements -1 to 6");
}

TEST(Legality, KindsOfArguments) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 8, DType::kF32, std::vector<float>(8, 1));
  ExpectRefused(bench.Call("memset").Op("dst", All(x)).Issue(), ErrorClass::kArgument,
                "value is missing");
  ExpectRefused(bench.Call("memset").Op("dst", All(x)).Op("value", All(x)).Issue(),
                ErrorClass::kArgument, "expected a number");
  ExpectRefused(bench.Call("tensor_copy").Op("dst", All(x)).Float("src", 1).Issue(),
                ErrorClass::kArgument, "expected a tensor");
  ExpectRefused(
      bench.Call("activation").Op("dst", All(x)).Op("data", All(x)).Float("op", 1).Issue(),
      ErrorClass::kArgument, "nki.language");
}

TEST(Legality, NothingIsWrittenOnFailure) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 4, 4, DType::kF32);
  Tensor* y = bench.Sbuf("y", 4, 4, DType::kF32);
  EXPECT_FALSE(bench.Call("tensor_copy").Op("dst", All(y)).Op("src", All(x)).Issue().ok());
  EXPECT_TRUE(FirstUnwritten(All(y)));
  EXPECT_EQ(bench.core().num_instructions(), 0u);
}

TEST(Legality, ShapesOnlyChecksAsMuch) {
  CoreOptions options;
  options.values = false;
  Bench bench(Generation::kGen3, options);
  Tensor* x = bench.Sbuf("x", 128, 8, DType::kF32);
  Tensor* y = bench.Sbuf("y", 128, 9, DType::kF32);
  const auto copy = [&](Tensor* dst) {
    return bench.Call("tensor_copy").Op("dst", All(dst)).Op("src", All(x)).Issue();
  };
  ExpectOk(copy(x));
  ExpectRefused(copy(y), ErrorClass::kShape, "must be equal");
}

// Every class has its own name, and a message leads back to it.
TEST(ErrorClasses, RoundTrip) {
  for (const ErrorClassRow& row : ErrorClasses()) {
    EXPECT_EQ(&Row(row.id), &row);
    EXPECT_EQ(ClassOf(MakeKernelError(row.id, "text")), row.id) << row.name;
  }
  EXPECT_EQ(ClassOf(Error(Code::kIo, "a disk")), ErrorClass::kInternal);
}

}  // namespace
}  // namespace wt::chip::legality_test
