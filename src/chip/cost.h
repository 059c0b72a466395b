// What an instruction asks of the machine's clockwork, before anything is said about when: the time
// it occupies an engine and the time until its result can be used. Made from the machine file's
// laws.
#pragma once

#include "chip/instr.h"

namespace wt::chip {

enum class Evidence : uint8_t { kMeasured, kPublished, kDerived, kGuessed };
inline constexpr int kNumEvidence = 4;
const char* EvidenceName(Evidence evidence);

struct Cost {
  double interval_ns = 0;  // the engine is taken for so long
  double latency_ns = 0;   // from start until results are visible; at least interval_ns
  double fixed_ns = 0;     // part of the interval that does not grow with the elements
  Evidence evidence = Evidence::kGuessed;
  // Tensor engine only.
  double weight_load_ns = 0;  // LoadStationary, hidden or elided by the scheduler
  double array_activity = 0;  // share of the 128 x 128 array that works during the interval
  // Scalar engine only: which table set the function needs; 0: any.
  int table_set = 0;
  // Vector engine only: a fast mode, which takes the SBUF port that GpSimd shares (chip.md 3).
  bool shares_port = false;
};

}  // namespace wt::chip
