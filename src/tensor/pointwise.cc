// Flat element-by-element kernels and the ordered sums that go with them.
#include "tensor/pointwise.h"

#include <cstring>

#include "tensor/check.h"
#include "tensor/split.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/pointwise.cc"
#include "tensor/simd_targets.h"
// clang-format off
#include <hwy/foreach_target.h>
#include "tensor/simd_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace {

// A scale of 1 is exact, so Cast is this too.
void ScaleRange(int64_t begin, int64_t end, float s, ConstArray x, Array out) {
  WithType(x.dtype, [&](auto* in_type) HWY_ATTR {
    WithType(out.dtype, [&](auto* out_type) HWY_ATTR {
      const auto* in = Data(x, in_type);
      auto* y = Data(out, out_type);
      ForEachVector(begin, end, [&](int64_t i, auto part) HWY_ATTR {
        Put(hn::Mul(Get(in + i, part), Const(s)), y + i, part);
      });
    });
  });
}

// out = sa a + sb b.
void CombineRange(int64_t begin, int64_t end, float sa, ConstArray a, float sb, ConstArray b,
                  Array out) {
  WithType(a.dtype, [&](auto* a_type) HWY_ATTR {
    WithType(b.dtype, [&](auto* b_type) HWY_ATTR {
      WithType(out.dtype, [&](auto* out_type) HWY_ATTR {
        const auto* x = Data(a, a_type);
        const auto* y = Data(b, b_type);
        auto* z = Data(out, out_type);
        ForEachVector(begin, end, [&](int64_t i, auto part) HWY_ATTR {
          const VF scaled = hn::Mul(Get(y + i, part), Const(sb));
          Put(hn::MulAdd(Get(x + i, part), Const(sa), scaled), z + i, part);
        });
      });
    });
  });
}

void MixBackwardRange(int64_t begin, int64_t end, float r, float z, ConstArray dy,
                      ConstArray addend, Array dx, Array dx0) {
  WithType(dy.dtype, [&](auto* type) HWY_ATTR {
    const auto *d = Data(dy, type), *more = Data(addend, type);
    auto *out = Data(dx, type), *out0 = Data(dx0, type);
    ForEachVector(begin, end, [&](int64_t i, auto part) HWY_ATTR {
      const VF v = Get(d + i, part);
      VF v0 = hn::Mul(v, Const(z));
      if (more != nullptr) v0 = hn::Add(v0, Get(more + i, part));
      Put(hn::Mul(v, Const(r)), out + i, part);
      Put(v0, out0 + i, part);
    });
  });
}

// Blocks are short enough for fp32 sums; the blocks are added in double.
double DotRange(int64_t begin, int64_t end, ConstArray a, ConstArray b) {
  constexpr int64_t kBlock = 4096;
  double sum = 0;
  WithType(a.dtype, [&](auto* type) HWY_ATTR {
    const auto *x = Data(a, type), *y = Data(b, type);
    for (int64_t at = begin; at < end; at += kBlock) {
      sum += SumOver(at, at + kBlock < end ? at + kBlock : end, [&](int64_t i, auto part) HWY_ATTR {
        return hn::Mul(Get(x + i, part), Get(y + i, part));
      });
    }
  });
  return sum;
}

}  // namespace
}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wt::tensor {

HWY_EXPORT(ScaleRange);
HWY_EXPORT(CombineRange);
HWY_EXPORT(MixBackwardRange);
HWY_EXPORT(DotRange);

void Cast(int64_t n, ConstArray src, Array dst) { Scale(n, 1.0f, src, dst); }

void Add(int64_t n, ConstArray a, ConstArray b, Array out) {
  LinearCombine(n, 1.0f, a, 1.0f, b, out);
}

void Scale(int64_t n, float s, ConstArray x, Array out) {
  CheckFloat({x, out});
  SplitElements(n, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(ScaleRange)(begin, end, s, x, out);
  });
}

void LinearCombine(int64_t n, float sa, ConstArray a, float sb, ConstArray b, Array out) {
  CheckFloat({a, b, out});
  SplitElements(n, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(CombineRange)(begin, end, sa, a, sb, b, out);
  });
}

void ZeroFill(int64_t n, Array out) {
  const int64_t element = DTypeBytes(out.dtype);
  SplitElements(n, [&](int64_t begin, int64_t end) {
    std::memset(static_cast<char*>(out.data) + begin * element, 0, (end - begin) * element);
  });
}

double Dot(int64_t n, ConstArray a, ConstArray b) {
  CheckOneType({a, b});
  return OrderedSum(n, kElementGrain, [&](int64_t begin, int64_t end) {
    return HWY_DYNAMIC_DISPATCH(DotRange)(begin, end, a, b);
  });
}

void MixForward(int64_t n, const float* r, const float* z, ConstArray x, ConstArray x0, Array y) {
  CheckOneType({x, x0, y});
  LinearCombine(n, *r, x, *z, x0, y);
}

void MixBackward(int64_t n, ConstArray dy, ConstArray x, ConstArray x0, const float* r,
                 const float* z, ConstArray dx0_addend, Array dx, Array dx0, float* dr, float* dz) {
  CheckOneType({dy, x, x0, dx0_addend, dx, dx0});
  // Before the outputs, which may be these inputs.
  *dr += static_cast<float>(Dot(n, dy, x));
  *dz += static_cast<float>(Dot(n, dy, x0));
  SplitElements(n, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(MixBackwardRange)(begin, end, *r, *z, dy, dx0_addend, dx, dx0);
  });
}

}  // namespace wt::tensor
#endif
