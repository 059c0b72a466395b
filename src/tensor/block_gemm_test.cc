// Each block product against "plain": orientations, element types, edges; and the choice between
// them.
#include "tensor/block_gemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/random.h"
#include "tensor/block_gemm_emulated.h"
#include "tensor/block_gemm_isa.h"
#include "tensor/scratch.h"

namespace wt::tensor {
namespace {

using testing::HasSubstr;

// bf16 values, so that no kernel rounds them, stored as f32 and as bf16.
struct Values {
  std::vector<float> f32;
  std::vector<BF16> bf16;

  Values(int64_t n, Philox& random) {
    for (int64_t i = 0; i < n; ++i) {
      bf16.emplace_back(random.NextNormal());
      f32.push_back(bf16.back());
    }
  }
  ConstMatrix View(int64_t rows, int64_t cols, bool as_bf16, bool transposed) const {
    const void* data = as_bf16 ? static_cast<const void*>(bf16.data()) : f32.data();
    const DType dtype = as_bf16 ? DType::kBF16 : DType::kF32;
    return transposed ? RowMajor(data, dtype, cols, rows).Transposed()
                      : RowMajor(data, dtype, rows, cols);
  }
};

std::vector<float> Product(const BlockGemm& gemm, const ConstMatrix& a, const ConstMatrix& b,
                           bool accumulate) {
  Scratch packed_a, packed_b;
  void* pa = packed_a.Reserve(gemm.packed_a_bytes(a.rows, a.cols));
  void* pb = packed_b.Reserve(gemm.packed_b_bytes(b.rows, b.cols));
  gemm.pack_a(a, pa);
  gemm.pack_b(b, pb);
  const int64_t ldc = b.cols + 3;
  std::vector<float> c(static_cast<size_t>(a.rows * ldc), 2.0f);
  gemm.run(a.rows, b.cols, a.cols, pa, pb, c.data(), ldc, accumulate);
  return c;
}

class BlockGemmTest : public testing::TestWithParam<const BlockGemm*> {};

TEST_P(BlockGemmTest, AgreesWithPlain) {
  Philox random(3, 0);
  for (int round = 0; round < 60; ++round) {
    const auto size = [&] { return 1 + static_cast<int64_t>(random.NextBelow(80)); };
    const auto coin = [&] { return random.NextBelow(2) == 1; };
    const int64_t m = size(), n = size(), k = size();
    const Values a_values(m * k, random), b_values(k * n, random);
    const ConstMatrix a = a_values.View(m, k, coin(), coin());
    const ConstMatrix b = b_values.View(k, n, coin(), coin());
    const bool accumulate = coin();
    const auto got = Product(*GetParam(), a, b, accumulate);
    const auto want = Product(*PlainBlockGemm(), a, b, accumulate);
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(got[i], want[i], 2e-5) << m << " " << n << " " << k << " at " << i;
    }
  }
}

TEST_P(BlockGemmTest, IsSound) { EXPECT_TRUE(BlockGemmIsSound(*GetParam())); }

INSTANTIATE_TEST_SUITE_P(Isa, BlockGemmTest, testing::ValuesIn(AllBlockGemmsForTest()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(BlockGemmChoiceTest, AWrongKernelIsNotSound) {
  BlockGemm wrong = *PlainBlockGemm();
  wrong.run = [](int64_t m, int64_t n, int64_t k, const void* a, const void* b, float* c,
                 int64_t ldc, bool accumulate) {
    PlainBlockGemm()->run(m, n, k, a, b, c, ldc, accumulate);
    c[m * ldc - 1] += 1;
  };
  EXPECT_FALSE(BlockGemmIsSound(wrong));
}

TEST(BlockGemmChoiceTest, UnknownNamesAreRefusedWithTheKnownOnes) {
  const Status status = SetBlockGemm("avx9");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("'avx9'"));
  EXPECT_THAT(status.message(), HasSubstr("plain, avx2, avx512, avx512_bf16, amx"));
}

TEST(BlockGemmChoiceTest, TheEnvironmentIsChecked) {
  setenv("WINDTUNNEL_ISA", "avx9", 1);
  const Status status = CheckBlockGemmEnvironment();
  unsetenv("WINDTUNNEL_ISA");
  EXPECT_THAT(status.message(), HasSubstr("WINDTUNNEL_ISA: instruction set 'avx9' is not known"));
  EXPECT_TRUE(CheckBlockGemmEnvironment().ok());
}

TEST(BlockGemmChoiceTest, ExactProductsAreKeptExact) {
  EXPECT_FALSE(ActiveBlockGemm(true).bf16_products);
  ASSERT_TRUE(SetBlockGemm("plain").ok());
  EXPECT_STREQ(ActiveBlockGemm().name, "plain");
  EXPECT_STREQ(ActiveBlockGemm(true).name, "plain");
  UseBlockGemm(*AvailableBlockGemms().back());
}

}  // namespace
}  // namespace wt::tensor
