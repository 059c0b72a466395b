// Activation functions and their derivatives, one pass over memory each.
#include "tensor/activation.h"

#include "tensor/check.h"
#include "tensor/split.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/activation.cc"
#include "tensor/simd_targets.h"
// clang-format off
#include <hwy/foreach_target.h>
#include "tensor/simd_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace {

// Each functor gives f(x) and f'(x).
struct Relu2 {
  HWY_INLINE VF Value(VF x) const {
    const VF r = hn::Max(x, hn::Zero(kF32Tag));
    return hn::Mul(r, r);
  }
  HWY_INLINE VF Slope(VF x) const {
    const VF r = hn::Max(x, hn::Zero(kF32Tag));
    return hn::Add(r, r);
  }
};

struct LeakyRelu2 {
  float slope;
  HWY_INLINE VF Factor(VF x) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(kF32Tag)), Const(1.0f), Const(slope));
  }
  HWY_INLINE VF Value(VF x) const {
    const VF r = hn::Mul(x, Factor(x));
    return hn::Mul(r, r);
  }
  HWY_INLINE VF Slope(VF x) const {
    const VF k = Factor(x);
    return hn::Mul(hn::Mul(Const(2.0f), x), hn::Mul(k, k));
  }
};

struct Gelu {
  HWY_INLINE VF Value(VF x) const {
    VF density;
    return hn::Mul(x, NormalCdf(x, &density));
  }
  HWY_INLINE VF Slope(VF x) const {
    VF density;
    const VF cdf = NormalCdf(x, &density);
    return hn::MulAdd(hn::Mul(x, Const(0.398942280f)), density, cdf);  // 1 / sqrt(2 pi)
  }
};

struct Silu {
  HWY_INLINE VF Value(VF x) const { return hn::Mul(x, Sigmoid(x)); }
  HWY_INLINE VF Slope(VF x) const {
    const VF s = Sigmoid(x);
    return hn::MulAdd(hn::Mul(x, s), hn::Sub(Const(1.0f), s), s);
  }
};

template <class Fn>
HWY_INLINE void WithFunction(Activation kind, float slope, const Fn& fn) {
  switch (kind) {
    case Activation::kRelu2:
      return fn(Relu2{});
    case Activation::kLeakyRelu2:
      return fn(LeakyRelu2{slope});
    case Activation::kGelu:
      return fn(Gelu{});
    case Activation::kSilu:
      return fn(Silu{});
  }
}

void Forward(int64_t begin, int64_t end, Activation kind, float slope, ConstArray x, Array y) {
  WithType(x.dtype, [&](auto* type) HWY_ATTR {
    WithFunction(kind, slope, [&](const auto& f) HWY_ATTR {
      const auto* in = Data(x, type);
      auto* out = Data(y, type);
      ForEachVector(begin, end, [&](int64_t i, auto part) HWY_ATTR {
        Put(f.Value(Get(in + i, part)), out + i, part);
      });
    });
  });
}

void Backward(int64_t begin, int64_t end, Activation kind, float slope, ConstArray x, ConstArray dy,
              Array dx) {
  WithType(x.dtype, [&](auto* type) HWY_ATTR {
    WithFunction(kind, slope, [&](const auto& f) HWY_ATTR {
      const auto *in = Data(x, type), *upstream = Data(dy, type);
      auto* out = Data(dx, type);
      ForEachVector(begin, end, [&](int64_t i, auto part) HWY_ATTR {
        Put(hn::Mul(Get(upstream + i, part), f.Slope(Get(in + i, part))), out + i, part);
      });
    });
  });
}

void GluForward(int64_t begin, int64_t end, ConstArray gate, ConstArray up, Array y) {
  WithType(y.dtype, [&](auto* type) HWY_ATTR {
    const auto *g = Data(gate, type), *u = Data(up, type);
    auto* out = Data(y, type);
    ForEachVector(begin, end, [&](int64_t i, auto part) HWY_ATTR {
      Put(hn::Mul(Silu{}.Value(Get(g + i, part)), Get(u + i, part)), out + i, part);
    });
  });
}

void GluBackward(int64_t begin, int64_t end, ConstArray gate, ConstArray up, ConstArray dy,
                 Array dgate, Array dup) {
  WithType(dy.dtype, [&](auto* type) HWY_ATTR {
    const auto *g = Data(gate, type), *u = Data(up, type), *d = Data(dy, type);
    auto *dg = Data(dgate, type), *du = Data(dup, type);
    ForEachVector(begin, end, [&](int64_t i, auto part) HWY_ATTR {
      const VF x = Get(g + i, part), v = Get(d + i, part), w = Get(u + i, part);
      const VF s = Sigmoid(x), silu = hn::Mul(x, s);
      const VF slope = hn::MulAdd(silu, hn::Sub(Const(1.0f), s), s);
      Put(hn::Mul(hn::Mul(v, w), slope), dg + i, part);
      Put(hn::Mul(v, silu), du + i, part);
    });
  });
}

}  // namespace
}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wt::tensor {

HWY_EXPORT(Forward);
HWY_EXPORT(Backward);
HWY_EXPORT(GluForward);
HWY_EXPORT(GluBackward);

void ActivationForward(Activation kind, float slope, int64_t n, ConstArray x, Array y) {
  CheckOneType({x, y});
  SplitElements(n, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(Forward)(begin, end, kind, slope, x, y);
  });
}

void ActivationBackward(Activation kind, float slope, int64_t n, ConstArray x, ConstArray dy,
                        Array dx) {
  CheckOneType({x, dy, dx});
  SplitElements(n, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(Backward)(begin, end, kind, slope, x, dy, dx);
  });
}

void SwigluForward(int64_t n, ConstArray gate, ConstArray up, Array y) {
  CheckOneType({gate, up, y});
  SplitElements(n, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(GluForward)(begin, end, gate, up, y);
  });
}

void SwigluBackward(int64_t n, ConstArray gate, ConstArray up, ConstArray dy, Array dgate,
                    Array dup) {
  CheckOneType({gate, up, dy, dgate, dup});
  SplitElements(n, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(GluBackward)(begin, end, gate, up, dy, dgate, dup);
  });
}

}  // namespace wt::tensor
#endif
