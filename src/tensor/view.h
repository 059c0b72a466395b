// Views of host memory that the kernels of this room take: a pointer, an element type, a shape.
// Nothing here owns memory; the executor of nn/ plans it.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace wt::tensor {

// A read-only matrix of f32 or bf16. Element (i, j) is at data[i * row_stride + j * col_stride], in
// elements; one of the strides is 1, so a transposed view costs nothing.
struct ConstMatrix {
  const void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t rows = 0, cols = 0;
  int64_t row_stride = 0, col_stride = 1;

  ConstMatrix Transposed() const { return {data, dtype, cols, rows, col_stride, row_stride}; }
  // Requires the ranges to lie inside.
  ConstMatrix Block(int64_t row, int64_t n_rows, int64_t col, int64_t n_cols) const {
    const int64_t offset = (row * row_stride + col * col_stride) * DTypeBytes(dtype);
    return {static_cast<const char*>(data) + offset, dtype, n_rows, n_cols, row_stride, col_stride};
  }
};

// A writable row-major matrix of f32 or bf16.
struct Matrix {
  void* data = nullptr;
  DType dtype = DType::kF32;
  int64_t rows = 0, cols = 0;
  int64_t row_stride = 0;

  operator ConstMatrix() const { return {data, dtype, rows, cols, row_stride, 1}; }
};

// Flat arrays; the call that takes one says how many elements it has.
struct ConstArray {
  const void* data = nullptr;
  DType dtype = DType::kF32;
  explicit operator bool() const { return data != nullptr; }
};
struct Array {
  void* data = nullptr;
  DType dtype = DType::kF32;
  explicit operator bool() const { return data != nullptr; }
  operator ConstArray() const { return {data, dtype}; }
};

// Row-major, densely packed.
inline ConstMatrix RowMajor(const void* data, DType dtype, int64_t rows, int64_t cols) {
  return {data, dtype, rows, cols, cols, 1};
}
inline Matrix MutableRowMajor(void* data, DType dtype, int64_t rows, int64_t cols) {
  return {data, dtype, rows, cols, cols};
}

}  // namespace wt::tensor
