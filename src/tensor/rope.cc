// Rotary positions and QK norm. A rotation keeps the length of a vector, so the norm's statistics
// come from x itself and one pass over each head does both.
#include "tensor/rope.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/check.h"
#include "tensor/split.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/rope.cc"
#include "tensor/simd_targets.h"
// clang-format off
#include <hwy/foreach_target.h>
#include "tensor/simd_inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace wt::tensor::HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE float Dot(int64_t n, const T* a, const T* b) {
  return SumOver(0, n, [&](int64_t i, auto part) HWY_ATTR {
    return hn::Mul(Get(a + i, part), Get(b + i, part));
  });
}

// out1 = scale (x1 c + x2 s), out2 = scale (x2 c - x1 s), minus along * `minus` where that is
// given.
template <class T>
HWY_INLINE void RotateHead(int64_t half, const T* x, const float* cos, const float* sin,
                           float scale, T* y) {
  const VF k = Const(scale);
  ForEachVector(0, half, [&](int64_t i, auto part) HWY_ATTR {
    const VF c = hn::Mul(Get(cos + i, part), k), s = hn::Mul(Get(sin + i, part), k);
    const VF x1 = Get(x + i, part), x2 = Get(x + half + i, part);
    Put(hn::MulAdd(x1, c, hn::Mul(x2, s)), y + i, part);
    Put(hn::NegMulAdd(x1, s, hn::Mul(x2, c)), y + half + i, part);
  });
}

template <class T>
void ForwardHead(const RopeShape& shape, const T* x, const float* cos, const float* sin, T* y) {
  float scale = shape.gain;
  if (shape.norm) {
    const float mean = Dot(shape.head_dim, x, x) / static_cast<float>(shape.head_dim);
    scale /= std::sqrt(mean + shape.eps);
  }
  RotateHead(shape.head_dim / 2, x, cos, sin, scale, y);
}

// With v = dy turned back (so that x.v = rot(x).dy), dx = gain rstd (v - x rstd^2 mean(x v)).
template <class T>
void BackwardHead(const RopeShape& shape, const T* x, const T* dy, const float* cos,
                  const float* sin, T* dx) {
  const int64_t hd = shape.head_dim, half = hd / 2;
  float rstd = 1, along = 0;
  if (shape.norm) {
    const float dot = SumOver(0, half, [&](int64_t i, auto part) HWY_ATTR {
      const VF c = Get(cos + i, part), s = Get(sin + i, part);
      const VF d1 = Get(dy + i, part), d2 = Get(dy + half + i, part);
      const VF v1 = hn::NegMulAdd(d2, s, hn::Mul(d1, c)), v2 = hn::MulAdd(d1, s, hn::Mul(d2, c));
      return hn::MulAdd(v1, Get(x + i, part), hn::Mul(v2, Get(x + half + i, part)));
    });
    const float n = static_cast<float>(hd);
    rstd = 1.0f / std::sqrt(Dot(hd, x, x) / n + shape.eps);
    along = shape.gain * rstd * rstd * rstd * dot / n;
  }
  const VF k = Const(shape.gain * rstd), a = Const(along);
  ForEachVector(0, half, [&](int64_t i, auto part) HWY_ATTR {
    const VF c = hn::Mul(Get(cos + i, part), k), s = hn::Mul(Get(sin + i, part), k);
    const VF d1 = Get(dy + i, part), d2 = Get(dy + half + i, part);
    const VF v1 = hn::NegMulAdd(d2, s, hn::Mul(d1, c)), v2 = hn::MulAdd(d1, s, hn::Mul(d2, c));
    Put(hn::NegMulAdd(Get(x + i, part), a, v1), dx + i, part);
    Put(hn::NegMulAdd(Get(x + half + i, part), a, v2), dx + half + i, part);
  });
}

// Rows are (batch, time) pairs; the table holds cos then sin, [positions, head_dim / 2] each, from
// first_position on.
void Forward(int64_t begin, int64_t end, const RopeShape& shape, const float* cos, const float* sin,
             ConstArray x, Array y) {
  WithType(x.dtype, [&](auto* type) HWY_ATTR {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t position = shape.positions ? shape.positions[r] : r % shape.time;
      const int64_t angle = position * (shape.head_dim / 2);
      for (int64_t h = 0; h < shape.heads; ++h) {
        const int64_t at = (r * shape.heads + h) * shape.head_dim;
        ForwardHead(shape, Data(x, type) + at, cos + angle, sin + angle, Data(y, type) + at);
      }
    }
  });
}

void Backward(int64_t begin, int64_t end, const RopeShape& shape, const float* cos,
              const float* sin, ConstArray x, ConstArray dy, Array dx) {
  WithType(x.dtype, [&](auto* type) HWY_ATTR {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t angle = r % shape.time * (shape.head_dim / 2);
      for (int64_t h = 0; h < shape.heads; ++h) {
        const int64_t at = (r * shape.heads + h) * shape.head_dim;
        BackwardHead(shape, Data(x, type) + at, Data(dy, type) + at, cos + angle, sin + angle,
                     Data(dx, type) + at);
      }
    }
  });
}

}  // namespace
}  // namespace wt::tensor::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wt::tensor {
namespace {

struct Table {
  int64_t positions = 0;
  std::vector<float> cos, sin;  // [positions, half]
};

std::shared_ptr<const Table> BuildTable(double base, int64_t head_dim, int64_t positions) {
  auto table = std::make_shared<Table>();
  const int64_t half = head_dim / 2;
  table->positions = positions;
  table->cos.resize(positions * half);
  table->sin.resize(positions * half);
  for (int64_t i = 0; i < half; ++i) {
    const double frequency = std::pow(base, -2.0 * static_cast<double>(i) / head_dim);
    for (int64_t t = 0; t < positions; ++t) {
      const double angle = static_cast<double>(t) * frequency;
      table->cos[t * half + i] = static_cast<float>(std::cos(angle));
      table->sin[t * half + i] = static_cast<float>(std::sin(angle));
    }
  }
  return table;
}

int64_t PositionsNeeded(const RopeShape& shape) {
  if (shape.positions == nullptr) return shape.first_position + shape.time;
  return 1 + *std::max_element(shape.positions, shape.positions + shape.batch * shape.time);
}

// Tables grow by doubling, so that decoding token by token seldom rebuilds one; a caller's table
// lives on while it is held.
std::shared_ptr<const Table> FindTable(const RopeShape& shape) {
  static std::mutex mutex;
  static std::map<std::pair<double, int64_t>, std::shared_ptr<const Table>> tables;
  const int64_t needed = PositionsNeeded(shape);
  const std::lock_guard lock(mutex);
  auto& table = tables[{shape.base, shape.head_dim}];
  if (table == nullptr || table->positions < needed) {
    const int64_t grown = table == nullptr ? needed : std::max(needed, 2 * table->positions);
    table = BuildTable(shape.base, shape.head_dim, grown);
  }
  return table;
}

}  // namespace

HWY_EXPORT(Forward);
HWY_EXPORT(Backward);

void RopeNormForward(const RopeShape& shape, ConstArray x, Array y) {
  CheckOneType({x, y});
  WT_CHECK(shape.head_dim % 2 == 0, "head_dim {}, expected an even number", shape.head_dim);
  const auto table = FindTable(shape);
  const int64_t first = shape.positions ? 0 : shape.first_position * (shape.head_dim / 2);
  SplitRows(shape.batch * shape.time, shape.heads * shape.head_dim, [&](int64_t b, int64_t e) {
    HWY_DYNAMIC_DISPATCH(Forward)
    (b, e, shape, table->cos.data() + first, table->sin.data() + first, x, y);
  });
}

void RopeNormBackward(const RopeShape& shape, ConstArray x, ConstArray dy, Array dx) {
  CheckOneType({x, dy, dx});
  WT_CHECK(shape.head_dim % 2 == 0, "head_dim {}, expected an even number", shape.head_dim);
  const auto table = FindTable(shape);
  const int64_t first = shape.first_position * (shape.head_dim / 2);
  SplitRows(shape.batch * shape.time, shape.heads * shape.head_dim, [&](int64_t b, int64_t e) {
    HWY_DYNAMIC_DISPATCH(Backward)
    (b, e, shape, table->cos.data() + first, table->sin.data() + first, x, dy, dx);
  });
}

}  // namespace wt::tensor
#endif
