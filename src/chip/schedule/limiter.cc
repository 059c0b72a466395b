#include "chip/schedule/limiter.h"

#include <cmath>

namespace wt::chip {

void Limiter::Close() {
  limited_ = done_ns_ < needed_ns_;
  done_ns_ = 0;
  boundary_ns_ += window_ns_;
}

double Limiter::Run(double start_ns, double work_ns, double activity) {
  if (window_ns_ <= 0) return start_ns + work_ns;
  if (start_ns >= boundary_ns_) {
    Close();
    if (start_ns >= boundary_ns_) {  // whole windows without work
      limited_ = true;
      boundary_ns_ += std::floor((start_ns - boundary_ns_) / window_ns_ + 1) * window_ns_;
    }
  }
  double now = start_ns;
  for (;;) {
    const double pace = limited_ ? slowdown_ : 1;
    const double fits_ns = (boundary_ns_ - now) / pace;
    const double run_ns = std::min(fits_ns, work_ns);
    done_ns_ += run_ns * activity;
    if (limited_) limited_ns_ += run_ns * pace;
    if (work_ns <= fits_ns) return now + work_ns * pace;
    work_ns -= fits_ns;
    now = boundary_ns_;
    Close();
  }
}

}  // namespace wt::chip
