#include "chip/shadow.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "chip/testing.h"

namespace wt::chip::shadow_test {
namespace {

using Bytes = std::set<std::pair<int64_t, int64_t>>;  // partition (HBM: 0) and byte

// The bytes of a walk, in order, the plainest way.
std::vector<std::pair<int64_t, int64_t>> BytesOf(const AccessPattern& pattern) {
  std::vector<std::pair<int64_t, int64_t>> bytes;
  for (int64_t e = 0; e < pattern.elements(); ++e) {
    int64_t rest = e, element = pattern.offset, partition = pattern.start_partition;
    for (int d = pattern.num_dims; d-- > 0;) {
      const Dim& dim = pattern.dims[static_cast<size_t>(d)];
      const int64_t at = rest % dim.size * dim.step;
      rest /= dim.size;
      (d == 0 && pattern.on_chip() ? partition : element) += at;
    }
    for (int64_t b = 0; b < DTypeBytes(pattern.dtype); ++b)
      bytes.push_back({pattern.on_chip() ? partition : 0, element * DTypeBytes(pattern.dtype) + b});
  }
  return bytes;
}

AccessPattern RandomPattern(Philox& random, Tensor* tensor, int64_t row_bytes) {
  const DType dtypes[] = {DType::kU8, DType::kBF16, DType::kF32};
  AccessPattern pattern;
  for (;;) {
    pattern.tensor = tensor;
    pattern.dtype = dtypes[random.NextBelow(3)];
    pattern.num_dims = static_cast<uint8_t>(1 + random.NextBelow(4));
    const int64_t elements = row_bytes / DTypeBytes(pattern.dtype);
    for (int d = 1; d < pattern.num_dims; ++d)
      pattern.dims[static_cast<size_t>(d)] = {int64_t(random.NextBelow(40)) - 5,
                                              1 + int64_t(random.NextBelow(12))};
    if (random.NextBelow(3) == 0 && pattern.num_dims > 1) pattern.dims[1] = {1, elements};
    pattern.offset = int64_t(random.NextBelow(uint64_t(elements)));
    if (pattern.num_dims > 1 && pattern.dims[1].size == elements) pattern.offset = 0;
    pattern.dims[0] = {
        pattern.on_chip() ? int64_t(random.NextBelow(8) != 0) : int64_t(random.NextBelow(100)),
        1 + int64_t(random.NextBelow(4))};
    pattern.start_partition = 0;
    if (pattern.on_chip()) pattern.start_partition = int32_t(random.NextBelow(2));
    if (InBounds(pattern)) return pattern;
  }
}

void Compare(Tensor* tensor, uint64_t stream) {
  Philox random(21, stream);
  Bytes written, by_matmul;
  for (int step = 0; step < 200; ++step) {
    const AccessPattern pattern = RandomPattern(random, tensor, tensor->partition_bytes);
    const auto bytes = BytesOf(pattern);
    const auto unwritten = FirstUnwritten(pattern);
    const bool all =
        std::all_of(bytes.begin(), bytes.end(), [&](auto b) { return written.count(b) > 0; });
    ASSERT_EQ(!unwritten, all) << step;
    if (unwritten) {
      ASSERT_EQ(written.count({unwritten->partition, unwritten->byte}), 0u) << step;
    }
    if (tensor->memory == Memory::kPsum) {
      const bool matmul =
          std::all_of(bytes.begin(), bytes.end(), [&](auto b) { return by_matmul.count(b) > 0; });
      const bool none =
          std::none_of(bytes.begin(), bytes.end(), [&](auto b) { return written.count(b) > 0; });
      const PsumState state = PsumStateOf(pattern);
      ASSERT_EQ(state == PsumState::kMatmul, matmul) << step;
      ASSERT_EQ(state == PsumState::kUnwritten, none) << step;
    }
    if (random.NextBelow(3) == 0) continue;
    const Writer writer = random.NextBelow(2) ? Writer::kMatmul : Writer::kEngine;
    MarkWritten(pattern, writer);
    written.insert(bytes.begin(), bytes.end());
    for (auto b : bytes) {
      if (writer == Writer::kMatmul) {
        by_matmul.insert(b);
      } else {
        by_matmul.erase(b);
      }
    }
  }
}

TEST(Shadow, AgreesWithASetOfBytes) {
  for (uint64_t stream = 0; stream < 12; ++stream) {
    Bench bench;
    Compare(bench.Psum("p", 4, 200, DType::kU8), 3 * stream);
    Compare(bench.Sbuf("s", 5, 130, DType::kU8), 3 * stream + 1);
    Compare(bench.Hbm("h", 500, DType::kU8), 3 * stream + 2);
  }
}

TEST(Shadow, AddressedTensorsShareIt) {
  Bench bench;
  TensorSpec spec;
  spec.partitions = 2;
  spec.partition_bytes = 128;
  spec.address = Address{0, 64};
  Tensor* low = *bench.core().Allocate(spec);
  spec.address = Address{1, 128};
  Tensor* high = *bench.core().Allocate(spec);
  MarkWritten(Pattern(low, DType::kU8, {2, 128}));
  AccessPattern first_half = Pattern(high, DType::kU8, {1, 64});
  EXPECT_FALSE(FirstUnwritten(first_half));
  first_half.dims[1].size = 65;
  EXPECT_EQ(FirstUnwritten(first_half)->byte, 64);
}

}  // namespace
}  // namespace wt::chip::shadow_test
