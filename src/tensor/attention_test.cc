// Attention against its plain twins in double, and those against finite differences.
#include "tensor/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "tensor/block_gemm_emulated.h"
#include "tensor/block_gemm_isa.h"

namespace wt::tensor {
namespace {

using Floats = std::vector<float>;

Floats RandomFloats(Philox& random, int64_t n) {
  Floats values(static_cast<size_t>(n));
  for (float& value : values) value = random.NextNormal();
  return values;
}

// The same numbers stored as `dtype`.
std::vector<char> Store(const Floats& values, DType dtype) {
  std::vector<char> bytes(values.size() * static_cast<size_t>(DTypeBytes(dtype)));
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::kBF16) {
      reinterpret_cast<BF16*>(bytes.data())[i] = BF16(values[i]);
    } else {
      reinterpret_cast<float*>(bytes.data())[i] = values[i];
    }
  }
  return bytes;
}

Floats Read(const std::vector<char>& bytes, DType dtype) {
  Floats values(bytes.size() / static_cast<size_t>(DTypeBytes(dtype)));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = dtype == DType::kBF16
                    ? static_cast<float>(reinterpret_cast<const BF16*>(bytes.data())[i])
                    : reinterpret_cast<const float*>(bytes.data())[i];
  }
  return values;
}

// One problem with the results of both passes.
struct Problem {
  AttentionShape shape;
  DType dtype;
  std::vector<char> q, k, v, d_o, o, d_q, d_k, d_v;
  Floats lse;

  Problem(const AttentionShape& s, DType type, Philox& random) : shape(s), dtype(type) {
    const int64_t rows = s.batch * s.time * s.head_dim;
    q = Store(RandomFloats(random, rows * s.heads), dtype);
    k = Store(RandomFloats(random, rows * s.kv_heads), dtype);
    v = Store(RandomFloats(random, rows * s.kv_heads), dtype);
    d_o = Store(RandomFloats(random, rows * s.heads), dtype);
    o = d_q = q;
    d_k = d_v = k;
    lse.resize(static_cast<size_t>(s.batch * s.heads * s.time));
  }
  void Run() {
    AttentionForward(shape, dtype, q.data(), k.data(), v.data(), o.data(), lse.data());
    AttentionBackward(shape, dtype, q.data(), k.data(), v.data(), o.data(), lse.data(), d_o.data(),
                      d_q.data(), d_k.data(), d_v.data());
  }
  void RunReference() {
    AttentionForwardReference(shape, dtype, q.data(), k.data(), v.data(), o.data(), lse.data());
    AttentionBackwardReference(shape, dtype, q.data(), k.data(), v.data(), d_o.data(), d_q.data(),
                               d_k.data(), d_v.data());
  }
};

// ||got - want|| / ||want||, and NaN where either has one.
double RelativeError(const Floats& got, const Floats& want) {
  double error = 0, norm = 1e-30;
  for (size_t i = 0; i < want.size(); ++i) {
    error += std::pow(static_cast<double>(got[i]) - want[i], 2);
    norm += std::pow(static_cast<double>(want[i]), 2);
  }
  return std::sqrt(error / norm);
}

void CompareAttention(const AttentionShape& s, DType dtype, Philox& random) {
  Problem got(s, dtype, random);
  Problem want = got;
  got.Run();
  want.RunReference();
  SCOPED_TRACE(testing::Message() << ActiveBlockGemm().name << " " << DTypeName(dtype) << " time "
                                  << s.time << " heads " << s.heads << "/" << s.kv_heads
                                  << " head_dim " << s.head_dim << " window " << s.window);
  // bf16: results, and in the instruction sets that multiply bf16 the probabilities, have 8 bits.
  const double tolerance = dtype == DType::kBF16 ? 8e-3 : 5e-6;
  EXPECT_LE(RelativeError(got.lse, want.lse), 1e-5);
  EXPECT_LE(RelativeError(Read(got.o, dtype), Read(want.o, dtype)), tolerance);
  EXPECT_LE(RelativeError(Read(got.d_q, dtype), Read(want.d_q, dtype)), tolerance);
  EXPECT_LE(RelativeError(Read(got.d_k, dtype), Read(want.d_k, dtype)), tolerance);
  EXPECT_LE(RelativeError(Read(got.d_v, dtype), Read(want.d_v, dtype)), tolerance);
}

AttentionShape RandomShape(Philox& random) {
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random.NextBelow(n)); };
  const int64_t kv_heads = 1 + below(2), time = 1 + below(230), head_dim = 1 + below(40);
  const int64_t window = below(2) ? time : below(static_cast<uint64_t>(time));
  return {1 + below(2),
          time,
          kv_heads * (1 + below(3)),
          kv_heads,
          head_dim,
          window,
          1 / std::sqrt(static_cast<float>(head_dim))};
}

class AttentionTest : public testing::TestWithParam<const BlockGemm*> {
 protected:
  AttentionTest() { UseBlockGemm(*GetParam()); }
  ~AttentionTest() override { UseBlockGemm(*AvailableBlockGemms().back()); }
};

TEST_P(AttentionTest, RandomShapes) {
  Philox random(11, 0);
  for (int i = 0; i < 8; ++i) {
    CompareAttention(RandomShape(random), DType::kF32, random);
    CompareAttention(RandomShape(random), DType::kBF16, random);
  }
}

TEST_P(AttentionTest, UsualHeadSizes) {
  Philox random(11, 1);
  for (int64_t head_dim : {64, 128, 256}) {
    CompareAttention({1, 100, 2, 1, head_dim, 1 << 20, 0.1f}, DType::kBF16, random);
  }
}

TEST_P(AttentionTest, SameBitsAtAnyNumberOfThreads) {
  Philox random(11, 2);
  Problem one({1, 300, 2, 1, 32, 150, 0.2f}, DType::kBF16, random);
  const int before = Threads();
  SetThreads(1);
  one.Run();
  for (int threads : {2, 3}) {
    Problem many = one;
    SetThreads(threads);
    many.Run();
    EXPECT_TRUE(many.o == one.o && many.d_q == one.d_q && many.d_k == one.d_k &&
                many.d_v == one.d_v);
    EXPECT_EQ(many.lse, one.lse);
  }
  SetThreads(before);
}

INSTANTIATE_TEST_SUITE_P(Isa, AttentionTest, testing::ValuesIn(AllBlockGemmsForTest()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(AttentionReferenceTest, QueryZeroCopiesValueZero) {
  Philox random(11, 3);
  Problem p({1, 5, 1, 1, 4, 2, 1.0f}, DType::kF32, random);
  p.RunReference();
  const Floats o = Read(p.o, DType::kF32), v = Read(p.v, DType::kF32);
  EXPECT_TRUE(std::equal(o.begin(), o.begin() + 4, v.begin()));
}

// d(sum(o * d_o)) / d(input[i]) by central differences.
double Difference(Problem& p, std::vector<char>& input, size_t i) {
  float& x = reinterpret_cast<float*>(input.data())[i];
  const float kept = x, step = 1e-2f;
  double sums[2] = {};
  for (int side : {0, 1}) {
    x = kept + (side ? step : -step);
    AttentionForwardReference(p.shape, p.dtype, p.q.data(), p.k.data(), p.v.data(), p.o.data(),
                              p.lse.data());
    const Floats o = Read(p.o, p.dtype), d_o = Read(p.d_o, p.dtype);
    for (size_t j = 0; j < o.size(); ++j) sums[side] += static_cast<double>(o[j]) * d_o[j];
  }
  x = kept;
  return (sums[1] - sums[0]) / (2 * step);
}

TEST(AttentionReferenceTest, BackwardAgreesWithFiniteDifferences) {
  Philox random(11, 4);
  Problem p({1, 6, 2, 1, 3, 3, 0.7f}, DType::kF32, random);
  p.RunReference();
  const Floats d_q = Read(p.d_q, p.dtype), d_k = Read(p.d_k, p.dtype), d_v = Read(p.d_v, p.dtype);
  for (size_t i = 0; i < d_q.size(); ++i) EXPECT_NEAR(Difference(p, p.q, i), d_q[i], 2e-3);
  for (size_t i = 0; i < d_k.size(); ++i) {
    EXPECT_NEAR(Difference(p, p.k, i), d_k[i], 2e-3);
    EXPECT_NEAR(Difference(p, p.v, i), d_v[i], 2e-3);
  }
}

}  // namespace
}  // namespace wt::tensor
