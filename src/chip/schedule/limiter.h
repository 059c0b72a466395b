// The tensor engine's power limit. Windows of fixed length run freely from the start of the kernel;
// at the end of each, the array is limited for the next one if the work done in it, weighted by the
// share of the array at work, was under a threshold. A kernel begins limited.
#pragma once

#include "chip/schedule/timing.h"

namespace wt::chip {

class Limiter {
 public:
  explicit Limiter(const Timing& timing)
      : window_ns_(timing.limiter_window_ns),
        needed_ns_(timing.limiter_threshold * timing.limiter_window_ns),
        slowdown_(timing.limiter_slowdown),
        boundary_ns_(timing.limiter_window_ns * timing.limiter_phase) {}

  // Runs `work_ns` (at full rate) from `start_ns` on; gives the end. Requires calls in the order of
  // time. `activity`: the share of the array that works.
  double Run(double start_ns, double work_ns, double activity);
  double limited_ns() const { return limited_ns_; }  // of all runs, the time under the limit

 private:
  void Close();  // the window ends

  double window_ns_, needed_ns_, slowdown_;
  double boundary_ns_;  // end of the window
  double done_ns_ = 0;  // weighted work in it
  double limited_ns_ = 0;
  bool limited_ = true;
};

}  // namespace wt::chip
