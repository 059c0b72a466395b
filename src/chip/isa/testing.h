// For tests of instructions: operands with random layouts (start partition, offset, steps, one or
// two free dimensions), and values as a dtype holds them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chip/testing.h"

namespace wt::chip {

inline std::vector<float> RandomFloats(Philox& random, int64_t n, float least = -8,
                                       float most = 8) {
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = least + (most - least) * random.NextUniform();
  return values;
}

// Whole numbers of [least, most]: many duplicates.
inline std::vector<float> RandomWhole(Philox& random, int64_t n, int least, int most) {
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values)
    value = static_cast<float>(least + int(random.NextBelow(uint64_t(most - least + 1))));
  return values;
}

// As a tensor of this dtype gives them back.
inline std::vector<float> AsStored(DType dtype, std::vector<float> values) {
  std::vector<std::byte> bytes(values.size() * 8);
  const auto n = static_cast<int64_t>(values.size());
  StoreFloats(dtype, bytes.data(), 1, n, values.data());
  LoadFloats(dtype, bytes.data(), 1, n, values.data());
  return values;
}

inline DType Pick(Philox& random, const std::vector<DType>& dtypes) {
  return dtypes[random.NextBelow(dtypes.size())];
}

// An operand of [partitions, elements] somewhere in a tensor of its own, with values if given.
inline AccessPattern RandomOperand(Bench& bench, Philox& random, Memory memory, int64_t partitions,
                                   int64_t elements, DType dtype,
                                   const std::vector<float>& values = {}) {
  const int64_t step = 1 + static_cast<int64_t>(random.NextBelow(3));
  const int64_t offset = static_cast<int64_t>(random.NextBelow(5));
  const int64_t inner = elements % 2 == 0 && random.NextBelow(2) ? elements / 2 : elements;
  const int64_t gap = static_cast<int64_t>(random.NextBelow(3));
  const int64_t outer = elements / inner;
  const int64_t quarter = partitions > 64 ? 128 : partitions > 32 ? 64 : 32;
  const int64_t start = static_cast<int64_t>(random.NextBelow(uint64_t(128 / quarter))) * quarter;
  const int64_t width = offset + outer * (inner * step + gap);
  Tensor* tensor = bench.Make(memory, "operand", start + partitions, width, dtype);
  AccessPattern pattern = Pattern(tensor, dtype,
                                  outer == 1 ? std::vector<int64_t>{partitions, inner}
                                             : std::vector<int64_t>{partitions, outer, inner});
  pattern.start_partition = static_cast<int32_t>(start);
  pattern.offset = offset;
  pattern.dims[pattern.num_dims - 1].step = step;
  if (outer > 1) pattern.dims[1].step = inner * step + gap;
  if (values.empty()) return pattern;
  const Walk walk{pattern.Merged(), {}, false};
  for (int64_t p = 0; p < partitions; ++p) StoreRow(walk, p, values.data() + p * elements);
  MarkWritten(pattern);
  return pattern;
}

inline std::vector<uint32_t> ReadBits(const AccessPattern& pattern) {
  const Walk walk{pattern.Merged(), {}, false};
  std::vector<uint32_t> bits;
  for (int64_t p = 0; p < walk.rows(); ++p) {
    ForRuns(walk.pattern, walk.Row(p), [&](std::byte* start, int64_t step, int64_t n) {
      bits.resize(bits.size() + static_cast<size_t>(n));
      LoadBits(pattern.dtype, start, step, n, bits.data() + bits.size() - n);
    });
  }
  return bits;
}

inline void WriteBits(const AccessPattern& pattern, const std::vector<uint32_t>& bits) {
  const Walk walk{pattern.Merged(), {}, false};
  const uint32_t* from = bits.data();
  for (int64_t p = 0; p < walk.rows(); ++p) {
    ForRuns(walk.pattern, walk.Row(p), [&](std::byte* start, int64_t step, int64_t n) {
      StoreBits(pattern.dtype, start, step, n, from);
      from += n;
    });
  }
  MarkWritten(pattern);
}

// Equal exactly; NaN equals NaN.
inline void ExpectSame(const std::vector<float>& got, const std::vector<float>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i])) {
      ASSERT_TRUE(std::isnan(got[i])) << "element " << i << " is " << got[i];
    } else {
      ASSERT_EQ(got[i], want[i]) << "element " << i;
    }
  }
}

inline void ExpectNear(const std::vector<float>& got, const std::vector<float>& want,
                       float relative) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], relative * std::max(1.0f, std::fabs(want[i]))) << "element " << i;
}

inline void ExpectOk(const Status& status) { ASSERT_TRUE(status.ok()) << status.message(); }

// Refused, with this class and this text in the message.
inline void ExpectRefused(const Status& status, ErrorClass id, const std::string& text) {
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(ClassOf(status), id) << status.message();
  EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
}

inline constexpr int kTrials = 60;  // of each randomised test

}  // namespace wt::chip
