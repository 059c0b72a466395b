// The host's part of a step: dispatch, synchronisation, the update's ops.
#pragma once

#include "price/demand.h"

namespace wt::price {

struct HostTime {
  double fixed = 0, dispatch = 0;  // seconds of a step
};

// `device_s`: what the rank's own work takes; an eager step lasts as long as the slower of the two.
HostTime PriceHost(const StepDemand& demand, const StepSetup& setup, const Constants& constants,
                   double device_s);

}  // namespace wt::price
