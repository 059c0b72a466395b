// ParallelFor: the one place that starts threads for number work. Idle workers sleep: other
// programs may share the cores. Results must not depend on the number of threads: split work into
// tasks by size alone, and reduce in task order.
#pragma once

#include <cstdint>
#include <functional>

namespace wt {

// Threads used by ParallelFor; the machine's cores unless set. Requires n >= 1.
void SetThreads(int n);
int Threads();

// Calls body(i) for each i in [0, n), in any order and on any thread; returns when all are done.
// A nested call runs on the calling thread.
void ParallelFor(int64_t n, const std::function<void(int64_t)>& body);

// Calls body(begin, end) for consecutive ranges of at most `grain` items that cover [0, n).
void ParallelRanges(int64_t n, int64_t grain, const std::function<void(int64_t, int64_t)>& body);

}  // namespace wt
