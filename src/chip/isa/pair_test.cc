#include <thread>

#include "chip/isa/testing.h"

namespace wt::chip::pair_test {
namespace {

// Two cores of one logical core; `kernel` runs on each, on a thread of its own.
template <class Kernel>
std::array<Status, 2> RunPair(const Kernel& kernel) {
  auto hbm = std::make_shared<Hbm>(2, int64_t{1} << 30);
  std::array<Status, 2> results;
  std::array<std::unique_ptr<Core>, 2> cores;
  for (int rank = 0; rank < 2; ++rank)
    cores[size_t(rank)] = std::make_unique<Core>(TestMachine(), CoreOptions{}, rank, hbm);
  const auto run = [&](int rank) {
    results[size_t(rank)] = kernel(*cores[size_t(rank)]);
    cores[size_t(rank)]->End();
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  return results;
}

Tensor* Make(Core& core, Memory memory, int64_t partitions, int64_t elements, DType dtype,
             bool shared = false) {
  TensorSpec spec;
  spec.memory = memory;
  spec.partitions = partitions;
  spec.partition_bytes = elements * DTypeBytes(dtype);
  spec.dtype = dtype;
  spec.shared = shared;
  spec.name = "tile";
  Result<Tensor*> tensor = core.Allocate(spec);
  WT_CHECK(tensor.ok(), "{}", tensor.status().message());
  return *tensor;
}

Status Memset(Core& core, Tensor* tensor, double value) {
  return Call(core, "memset").Op("dst", All(tensor)).Float("value", value).Issue();
}

Call Swap(Core& core, Tensor* src, Tensor* dst) {
  Call call(core, "sendrecv");
  call.Op("src", All(src)).Op("dst", All(dst)).Int("pipe_id", 0);
  call.Int("send_to_rank", 1 - core.rank()).Int("recv_from_rank", 1 - core.rank());
  return call;
}

TEST(Sendrecv, SwapsTiles) {
  const auto results = RunPair([](Core& core) -> Status {
    Tensor* src = Make(core, Memory::kSbuf, 4, 3, DType::kBF16);
    Tensor* dst = Make(core, Memory::kSbuf, 4, 3, DType::kBF16);
    WT_RETURN_IF_ERROR(Memset(core, src, 10 + core.rank()));
    WT_RETURN_IF_ERROR(Swap(core, src, dst).Issue());
    ExpectSame(Bench::Read(dst), std::vector<float>(12, float(11 - core.rank())));
    return {};
  });
  for (const Status& status : results) ExpectOk(status);
}

TEST(Sendrecv, InPlaceAndTwice) {
  const auto results = RunPair([](Core& core) -> Status {
    Tensor* x = Make(core, Memory::kSbuf, 1, 2, DType::kF32);
    WT_RETURN_IF_ERROR(Memset(core, x, core.rank()));
    WT_RETURN_IF_ERROR(Swap(core, x, x).Issue());
    ExpectSame(Bench::Read(x), std::vector<float>(2, float(1 - core.rank())));
    WT_RETURN_IF_ERROR(Swap(core, x, x).Name("dma_engine", 2).Issue());
    ExpectSame(Bench::Read(x), std::vector<float>(2, float(core.rank())));
    return {};
  });
  for (const Status& status : results) ExpectOk(status);
}

TEST(Sendrecv, ShapesMustAgreeBetweenTheCores) {
  const auto results = RunPair([](Core& core) -> Status {
    const int64_t width = 2 + core.rank();
    Tensor* src = Make(core, Memory::kSbuf, 1, width, DType::kF32);
    Tensor* dst = Make(core, Memory::kSbuf, 1, width, DType::kF32);
    WT_RETURN_IF_ERROR(Memset(core, src, 1));
    return Swap(core, src, dst).Issue();
  });
  for (const Status& status : results) ExpectRefused(status, ErrorClass::kShape, "one shape");
}

TEST(Sendrecv, NobodyThereIsADeadlock) {
  const auto results = RunPair([](Core& core) -> Status {
    Tensor* x = Make(core, Memory::kSbuf, 1, 2, DType::kF32);
    WT_RETURN_IF_ERROR(Memset(core, x, 1));
    return core.rank() == 0 ? Swap(core, x, x).Issue() : Status();
  });
  EXPECT_EQ(ClassOf(results[0]), ErrorClass::kDeadlock);
}

TEST(Sendrecv, Refusals) {
  Bench bench;
  Tensor* x = bench.Sbuf("x", 1, 257, DType::kF32, std::vector<float>(257, 1.0f));
  ExpectRefused(Swap(bench.core(), x, x).Name("dma_engine", 2).Issue(), ErrorClass::kFreeSize,
                "at most 256");
  ExpectRefused(Swap(bench.core(), x, x).Int("send_to_rank", 2).Issue(), ErrorClass::kArgument,
                "0 to 1");
  ExpectRefused(Swap(bench.core(), x, x).Issue(), ErrorClass::kArgument, "kernel[2]");
}

Status Barrier(Core& core, Tensor* data, const std::vector<int64_t>& cores = {0, 1}) {
  return Call(core, "core_barrier").Op("data", All(data)).Ints("cores", cores).Issue();
}

TEST(CoreBarrier, DataMayBeOnChip) {
  const auto results = RunPair([](Core& core) -> Status {
    Tensor* counter = Make(core, Memory::kSbuf, 1, 1, DType::kI32);
    WT_RETURN_IF_ERROR(Memset(core, counter, 3));
    return Barrier(core, counter);
  });
  for (const Status& status : results) ExpectOk(status);
}

TEST(CoreBarrier, EachSeesWhatTheOtherWroteBefore) {
  const auto results = RunPair([](Core& core) -> Status {
    Tensor* shared = Make(core, Memory::kHbm, 1, 8, DType::kF32, true);
    Tensor* x = Make(core, Memory::kSbuf, 1, 4, DType::kF32);
    Tensor* all = Make(core, Memory::kSbuf, 1, 8, DType::kF32);
    WT_RETURN_IF_ERROR(Memset(core, x, 5 + core.rank()));
    AccessPattern half = Matrix(shared, 1, 4);
    half.offset = 4 * core.rank();
    WT_RETURN_IF_ERROR(Call(core, "dma_copy").Op("dst", half).Op("src", All(x)).Issue());
    WT_RETURN_IF_ERROR(Barrier(core, shared));
    WT_RETURN_IF_ERROR(Call(core, "dma_copy").Op("dst", All(all)).Op("src", All(shared)).Issue());
    ExpectSame(Bench::Read(all), {5, 5, 5, 5, 6, 6, 6, 6});
    return {};
  });
  for (const Status& status : results) ExpectOk(status);
}

TEST(CoreBarrier, WaitsEvenForWhatNobodyWrote) {
  const auto results = RunPair([](Core& core) -> Status {
    Tensor* shared = Make(core, Memory::kHbm, 1, 8, DType::kF32, true);
    WT_RETURN_IF_ERROR(Barrier(core, shared));
    return Barrier(core, shared);
  });
  for (const Status& status : results) ExpectOk(status);
}

TEST(CoreBarrier, OneCoreAtTheBarrierAndOneInASwapIsADeadlock) {
  const auto results = RunPair([](Core& core) -> Status {
    Tensor* shared = Make(core, Memory::kHbm, 1, 8, DType::kF32, true);
    Tensor* x = Make(core, Memory::kSbuf, 1, 4, DType::kF32);
    WT_RETURN_IF_ERROR(Memset(core, x, 1));
    return core.rank() == 0 ? Barrier(core, shared) : Swap(core, x, x).Issue();
  });
  EXPECT_EQ(ClassOf(results[0]), ErrorClass::kDeadlock);
  EXPECT_EQ(ClassOf(results[1]), ErrorClass::kDeadlock);
}

TEST(CoreBarrier, Refusals) {
  Bench bench;
  Tensor* shared = Make(bench.core(), Memory::kHbm, 1, 8, DType::kF32, true);
  ExpectRefused(Barrier(bench.core(), shared, {0, 1, 2}), ErrorClass::kArgument, "expected (0, 1)");
  ExpectRefused(Barrier(bench.core(), shared), ErrorClass::kArgument, "kernel[2]");
  Tensor* own = bench.Hbm("own", 8, DType::kF32);
  ExpectRefused(Barrier(bench.core(), own), ErrorClass::kMemory, "shared_hbm");
}

}  // namespace
}  // namespace wt::chip::pair_test
