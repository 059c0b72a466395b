#include "chip/check/footprint.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace wt::chip {
namespace {

AccessPattern Pattern(Tensor* tensor, int64_t offset, std::vector<Dim> dims) {
  AccessPattern pattern;
  pattern.tensor = tensor;
  pattern.dtype = DType::kBF16;
  pattern.offset = offset;
  pattern.num_dims = static_cast<uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), pattern.dims.begin());
  return pattern;
}

// Every byte, the plain way.
std::set<int64_t> BytesOf(const AccessPattern& pattern) {
  std::vector<int64_t> starts = {pattern.offset};
  for (int d = 0; d < pattern.num_dims; ++d) {
    std::vector<int64_t> next;
    for (int64_t start : starts) {
      for (int64_t i = 0; i < pattern.dims[static_cast<size_t>(d)].size; ++i) {
        next.push_back(start + i * pattern.dims[static_cast<size_t>(d)].step);
      }
    }
    starts = next;
  }
  std::set<int64_t> bytes;
  for (int64_t start : starts) bytes.insert({2 * start, 2 * start + 1});
  return bytes;
}

std::set<int64_t> BytesOf(const Footprint& footprint) {
  std::set<int64_t> bytes;
  for (const Run& run : footprint.runs) {
    for (int64_t b = run.begin; b < run.end; ++b) bytes.insert(b);
  }
  return bytes;
}

TEST(Footprint, RandomPatternsCoverExactlyTheirBytes) {
  Tensor tensor;
  tensor.memory = Memory::kHbm;
  tensor.partition_bytes = 1 << 16;
  std::mt19937 random(7);
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<AccessPattern> patterns;
    for (int i = 0; i < 2; ++i) {
      std::vector<Dim> dims;
      for (unsigned d = 0; d < 1 + random() % 3; ++d) {
        dims.push_back(
            {static_cast<int64_t>(random() % 12), static_cast<int64_t>(1 + random() % 5)});
      }
      patterns.push_back(Pattern(&tensor, random() % 60, dims));
    }
    const Footprint a = FootprintOf(patterns[0]), b = FootprintOf(patterns[1]);
    const std::set<int64_t> in_a = BytesOf(patterns[0]), in_b = BytesOf(patterns[1]);
    EXPECT_EQ(BytesOf(a), in_a);
    bool common = false;
    for (int64_t byte : in_a) common |= in_b.count(byte) > 0;
    EXPECT_EQ(Intersect(a, b), common);
    EXPECT_EQ(Covers(a, b), std::includes(in_a.begin(), in_a.end(), in_b.begin(), in_b.end()));
  }
}

TEST(Footprint, AddressesPutTensorsIntoOneSpace) {
  Tensor a, b;
  a.address = Address{0, 0};
  b.address = Address{32, 64};
  a.partitions = b.partitions = 64;
  const AccessPattern whole_a = Pattern(&a, 0, {{1, 64}, {1, 64}});
  const AccessPattern first_b = Pattern(&b, 0, {{1, 64}, {1, 8}});
  EXPECT_TRUE(Intersect(FootprintOf(whole_a), FootprintOf(first_b)));
  const AccessPattern half_a = Pattern(&a, 0, {{1, 64}, {1, 32}});
  EXPECT_FALSE(Intersect(FootprintOf(half_a), FootprintOf(first_b)));
}

}  // namespace
}  // namespace wt::chip
