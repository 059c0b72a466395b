// How kernels split flat arrays over threads: pieces whose size depends on the array alone, so that
// results have the same bits at any number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

#include "base/parallel.h"

namespace wt::tensor {

inline constexpr int64_t kElementGrain = 16384;  // 32 to 64 KiB a task

// body(begin, end) over [0, n) elements. The reference wrapper keeps std::function off the heap.
template <class Body>
void SplitElements(int64_t n, const Body& body) {
  ParallelRanges(n, kElementGrain, std::cref(body));
}

// body(begin, end) over [0, rows), where a row holds `cols` elements.
template <class Body>
void SplitRows(int64_t rows, int64_t cols, const Body& body) {
  ParallelRanges(rows, std::max<int64_t>(1, kElementGrain / std::max<int64_t>(1, cols)),
                 std::cref(body));
}

// Sum of part(begin, end) over pieces of [0, n) of at least `min_grain`, added in order.
template <class Part>
double OrderedSum(int64_t n, int64_t min_grain, const Part& part) {
  constexpr int64_t kMaxParts = 256;
  std::array<double, kMaxParts> parts{};
  const int64_t grain = std::max(min_grain, (n + kMaxParts - 1) / kMaxParts);
  const auto body = [&](int64_t begin, int64_t end) { parts[begin / grain] = part(begin, end); };
  ParallelRanges(n, grain, std::cref(body));
  double sum = 0;
  for (int64_t i = 0; i * grain < n; ++i) sum += parts[i];
  return sum;
}

}  // namespace wt::tensor
