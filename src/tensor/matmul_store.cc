// Plain loops that compilers vectorise; bf16 rounding is integer arithmetic.
#include "tensor/matmul_store.h"

namespace wt::tensor {
namespace {

template <class T>
void StoreRow(const float* sums, int64_t step, T* to, int64_t n, bool accumulate) {
  if (accumulate) {
    for (int64_t j = 0; j < n; ++j) to[j] = T(sums[j * step] + static_cast<float>(to[j]));
  } else {
    for (int64_t j = 0; j < n; ++j) to[j] = T(sums[j * step]);
  }
}

template <class T>
void StoreAs(const float* sums, int64_t ld, bool transposed, const Matrix& c, bool accumulate) {
  for (int64_t i = 0; i < c.rows; ++i) {
    T* to = static_cast<T*>(c.data) + i * c.row_stride;
    if (transposed) {
      StoreRow(sums + i, ld, to, c.cols, accumulate);
    } else {
      StoreRow(sums + i * ld, 1, to, c.cols, accumulate);
    }
  }
}

}  // namespace

void StoreSums(const float* sums, int64_t ld, bool transposed, const Matrix& c, bool accumulate) {
  if (c.dtype == DType::kBF16) {
    StoreAs<BF16>(sums, ld, transposed, c, accumulate);
  } else {
    StoreAs<float>(sums, ld, transposed, c, accumulate);
  }
}

}  // namespace wt::tensor
