// MatMul against its plain twin: shapes, orientations, element types, threads, instruction sets.
#include "tensor/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "tensor/block_gemm_emulated.h"
#include "tensor/block_gemm_isa.h"

namespace wt::tensor {
namespace {

// A random matrix in either orientation, with slack between rows.
struct Operand {
  std::vector<char> bytes;
  ConstMatrix view;
};

Operand RandomOperand(Philox& random, int64_t rows, int64_t cols, DType dtype, bool transposed) {
  const int64_t outer = transposed ? cols : rows, inner = transposed ? rows : cols;
  const int64_t stride = inner + static_cast<int64_t>(random.NextBelow(3));
  Operand operand;
  operand.bytes.resize(static_cast<size_t>(outer * stride * DTypeBytes(dtype)));
  for (int64_t i = 0; i < outer * stride; ++i) {
    const float value = random.NextNormal();
    if (dtype == DType::kBF16) {
      reinterpret_cast<BF16*>(operand.bytes.data())[i] = BF16(value);
    } else {
      reinterpret_cast<float*>(operand.bytes.data())[i] = value;
    }
  }
  const ConstMatrix stored = {operand.bytes.data(), dtype, outer, inner, stride, 1};
  operand.view = transposed ? stored.Transposed() : stored;
  return operand;
}

float At(const Matrix& c, int64_t i, int64_t j) {
  const int64_t at = i * c.row_stride + j;
  return c.dtype == DType::kBF16 ? static_cast<float>(static_cast<BF16*>(c.data)[at])
                                 : static_cast<float*>(c.data)[at];
}

Matrix View(Operand& c) {
  return {c.bytes.data(), c.view.dtype, c.view.rows, c.view.cols, c.view.row_stride};
}

// The largest |got - want| in units of what rounding explains: one step of the result's type, and
// the error of a sum of k products of standard normal numbers.
double Error(const Matrix& got, const Matrix& want, int64_t k, bool rounds_inputs) {
  const double step = got.dtype == DType::kBF16 ? 0x1p-7 : 0x1p-23;
  const double terms = static_cast<double>(k);
  const double sum = 0x1p-22 * terms + (rounds_inputs ? 0x1p-5 * std::sqrt(terms) : 0) + 1e-6;
  double worst = 0;
  for (int64_t i = 0; i < got.rows; ++i) {
    for (int64_t j = 0; j < got.cols; ++j) {
      const double w = At(want, i, j);
      const double error = std::abs(At(got, i, j) - w) / (step * std::abs(w) + sum);
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

struct MatMulCase {
  int64_t m, n, k;
};

void CompareMatMul(const MatMulCase& shape, Philox& random) {
  const auto dtype = [&] { return random.NextBelow(2) ? DType::kBF16 : DType::kF32; };
  const DType a_dtype = dtype(), b_dtype = dtype();
  const bool accumulate = random.NextBelow(2);
  Operand a = RandomOperand(random, shape.m, shape.k, a_dtype, random.NextBelow(2));
  Operand b = RandomOperand(random, shape.k, shape.n, b_dtype, random.NextBelow(2));
  Operand got = RandomOperand(random, shape.m, shape.n, dtype(), false);
  Operand want = got;
  want.view.data = want.bytes.data();
  MatMul(a.view, b.view, View(got), accumulate);
  MatMulReference(a.view, b.view, View(want), accumulate);
  const bool rounds_inputs = ActiveBlockGemm().bf16_products && a_dtype != b_dtype;
  EXPECT_LE(Error(View(got), View(want), shape.k, rounds_inputs), 1.0)
      << ActiveBlockGemm().name << " m " << shape.m << " n " << shape.n << " k " << shape.k << " "
      << DTypeName(a_dtype) << " " << DTypeName(b_dtype) << " " << DTypeName(got.view.dtype)
      << " accumulate " << accumulate << " strides " << a.view.row_stride << " "
      << b.view.row_stride;
}

class MatMulTest : public testing::TestWithParam<const BlockGemm*> {
 protected:
  MatMulTest() { UseBlockGemm(*GetParam()); }
  ~MatMulTest() override { UseBlockGemm(*AvailableBlockGemms().back()); }
};

TEST_P(MatMulTest, RandomSmallShapes) {
  Philox random(7, 0);
  for (int i = 0; i < 120; ++i) {
    const auto size = [&] { return 1 + static_cast<int64_t>(random.NextBelow(70)); };
    CompareMatMul({size(), size(), size()}, random);
  }
}

TEST_P(MatMulTest, SeveralBlocksInEachDimension) {
  Philox random(7, 1);
  for (const MatMulCase& shape : std::vector<MatMulCase>{
           {210, 300, 700}, {1, 600, 400}, {16, 500, 333}, {130, 517, 64}, {500, 17, 90}}) {
    for (int i = 0; i < 2; ++i) CompareMatMul(shape, random);
  }
}

TEST_P(MatMulTest, SameBitsAtAnyNumberOfThreads) {
  Philox random(7, 2);
  const Operand a = RandomOperand(random, 333, 410, DType::kBF16, true);
  const Operand b = RandomOperand(random, 410, 290, DType::kBF16, false);
  std::vector<std::vector<char>> results;
  const int before = Threads();
  for (int threads : {1, 2, 3}) {
    SetThreads(threads);
    Operand c = RandomOperand(random, 333, 290, DType::kF32, false);
    c.view.row_stride = 290;
    MatMul(a.view, b.view, View(c));
    results.emplace_back(c.bytes.begin(), c.bytes.begin() + 333 * 290 * 4);
  }
  SetThreads(before);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

INSTANTIATE_TEST_SUITE_P(Isa, MatMulTest, testing::ValuesIn(AllBlockGemmsForTest()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(MatMulTest, EmptyDepthZeroesOrKeeps) {
  float c[4] = {1, 2, 3, 4};
  const ConstMatrix a = RowMajor(c, DType::kF32, 2, 0), b = RowMajor(c, DType::kF32, 0, 2);
  MatMul(a, b, MutableRowMajor(c, DType::kF32, 2, 2), true);
  EXPECT_EQ(c[3], 4);
  MatMul(a, b, MutableRowMajor(c, DType::kF32, 2, 2));
  EXPECT_EQ(c[3], 0);
}

}  // namespace
}  // namespace wt::tensor
