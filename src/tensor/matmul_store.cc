// The rounding store of matmul_store.h for each instruction set.
#include "tensor/matmul_store.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/matmul_store.cc"
#include "tensor/simd_targets.h"
// clang-format off
#include <hwy/foreach_target.h>
#include "tensor/simd_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE void StoreRow(const float* sums, int64_t n, bool accumulate, T* to) {
  if (accumulate) {
    ForEachVector(0, n, [&](int64_t j, auto part) HWY_ATTR {
      Put(hn::Add(Get(sums + j, part), Get(to + j, part)), to + j, part);
    });
  } else {
    ForEachVector(0, n,
                  [&](int64_t j, auto part) HWY_ATTR { Put(Get(sums + j, part), to + j, part); });
  }
}

// Few rows (of C) that are long columns of the sums: gathered through a small buffer.
template <class T>
HWY_INLINE void StoreColumn(const float* sums, int64_t ld, int64_t n, bool accumulate, T* to) {
  constexpr int64_t kChunk = 256;
  float gathered[kChunk];
  for (int64_t first = 0; first < n; first += kChunk) {
    const int64_t count = n - first < kChunk ? n - first : kChunk;
    for (int64_t j = 0; j < count; ++j) gathered[j] = sums[(first + j) * ld];
    StoreRow(gathered, count, accumulate, to + first);
  }
}

void Store(const float* sums, int64_t ld, bool transposed, const Matrix& c, bool accumulate) {
  WithType(c.dtype, [&](auto* type) HWY_ATTR {
    auto* to = Data(Array{c.data, c.dtype}, type);
    for (int64_t i = 0; i < c.rows; ++i, to += c.row_stride) {
      if (transposed) {
        StoreColumn(sums + i, ld, c.cols, accumulate, to);
      } else {
        StoreRow(sums + i * ld, c.cols, accumulate, to);
      }
    }
  });
}

}  // namespace
}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wt::tensor {

HWY_EXPORT(Store);

void StoreSums(const float* sums, int64_t ld, bool transposed, const Matrix& c, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(Store)(sums, ld, transposed, c, accumulate);
}

}  // namespace wt::tensor
#endif
