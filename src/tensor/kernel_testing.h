// For the tests of this room: arrays of random numbers seen as doubles, gradients by differences,
// and the parameters (element type, instruction set) that every kernel is tested with.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "tensor/simd.h"
#include "tensor/view.h"

namespace wt::tensor {

using Doubles = std::vector<double>;

// An owned array of f32 or bf16; its values are exact in double.
class TestArray {
 public:
  TestArray(int64_t n, DType dtype) : n_(n), dtype_(dtype), bytes_(n * DTypeBytes(dtype)) {}
  // Normal with deviation `scale`, rounded to the dtype.
  static TestArray Random(int64_t n, DType dtype, uint64_t seed, double scale = 1) {
    TestArray a(n, dtype);
    Philox random(seed, 0);
    for (int64_t i = 0; i < n; ++i) a.Set(i, random.NextNormal() * scale);
    return a;
  }

  int64_t size() const { return n_; }
  DType dtype() const { return dtype_; }
  const std::vector<char>& bytes() const { return bytes_; }
  Array array() { return {bytes_.data(), dtype_}; }
  float* f32() { return reinterpret_cast<float*>(bytes_.data()); }
  void Set(int64_t i, double value) {
    const float f = static_cast<float>(value);
    if (dtype_ == DType::kF32) {
      std::memcpy(&bytes_[i * 4], &f, 4);
    } else {
      const BF16 b(f);
      std::memcpy(&bytes_[i * 2], &b, 2);
    }
  }
  double operator[](int64_t i) const {
    if (dtype_ == DType::kF32) {
      float f;
      std::memcpy(&f, &bytes_[i * 4], 4);
      return f;
    }
    BF16 b;
    std::memcpy(&b, &bytes_[i * 2], 2);
    return b;
  }
  Doubles doubles() const {
    Doubles d(n_);
    for (int64_t i = 0; i < n_; ++i) d[i] = (*this)[i];
    return d;
  }

 private:
  int64_t n_;
  DType dtype_;
  std::vector<char> bytes_;
};

// |got - want| <= (2^-8 for bf16, its rounding; `f32_tolerance` for f32) * (|want| + scale), with
// scale the root mean square of want.
inline void ExpectClose(const TestArray& got, const Doubles& want, double f32_tolerance = 3e-6) {
  ASSERT_EQ(got.size(), static_cast<int64_t>(want.size()));
  double squares = 1e-30;
  for (double w : want) squares += w * w / static_cast<double>(want.size());
  const double scale = std::sqrt(squares);
  const double f = got.dtype() == DType::kBF16 ? 1.0 / 256 : f32_tolerance;
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(got[i], want[i], f * (std::abs(want[i]) + 0.1 * scale)) << "at " << i;
  }
}

inline double Inner(const Doubles& a, const Doubles& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// d f / d x by central differences.
inline Doubles NumericGradient(Doubles x, const std::function<double(const Doubles&)>& f) {
  constexpr double kStep = 1e-5;
  Doubles gradient(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double at = x[i];
    x[i] = at + kStep;
    const double up = f(x);
    x[i] = at - kStep;
    gradient[i] = (up - f(x)) / (2 * kStep);
    x[i] = at;
  }
  return gradient;
}

// run() gives the bytes of a result; they must not depend on the number of threads.
inline void ExpectSameAtAnyThreads(const std::function<std::vector<char>()>& run) {
  const int before = Threads();
  SetThreads(1);
  const std::vector<char> want = run();
  for (int threads : {2, 3}) {
    SetThreads(threads);
    EXPECT_EQ(run(), want) << threads << " threads";
  }
  SetThreads(before);
}

// Parameters: the element type, and whether to use the plain instruction set.
class KernelTest : public testing::TestWithParam<std::tuple<DType, bool>> {
 protected:
  void SetUp() override {
    if (std::get<1>(GetParam())) DisableVectorTargets();
  }
  void TearDown() override { EnableVectorTargets(); }
  DType dtype() const { return std::get<0>(GetParam()); }
  TestArray Random(int64_t n, uint64_t seed, double scale = 1) const {
    return TestArray::Random(n, dtype(), seed, scale);
  }
  TestArray Empty(int64_t n) const { return TestArray(n, dtype()); }
};

inline std::string KernelTestName(const testing::TestParamInfo<std::tuple<DType, bool>>& info) {
  return std::string(DTypeName(std::get<0>(info.param))) +
         (std::get<1>(info.param) ? "_plain" : "_vector");
}

#define WT_KERNEL_TEST(Name)                                                                      \
  class Name : public KernelTest {};                                                              \
  INSTANTIATE_TEST_SUITE_P(                                                                       \
      Kernels, Name,                                                                              \
      testing::Combine(testing::Values(DType::kF32, DType::kBF16), testing::Values(false, true)), \
      KernelTestName)

}  // namespace wt::tensor
