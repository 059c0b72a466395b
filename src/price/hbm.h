// What a step keeps in HBM, on one rank, against what the rank has.
#pragma once

#include <string>

#include "chip/machine.h"
#include "nn/step_program.h"
#include "price/setup.h"

namespace wt::price {

struct HbmUse {
  double parameters = 0, gradients = 0, state = 0, caches = 0;  // after sharding
  double activations = 0;                                       // at the peak
  double inner = 0;  // of the op at the peak of those: logits
  double peak = 0, capacity = 0;
  std::string peak_at;  // "backward of layer3.mlp (linear_dgrad)"
  bool fits() const { return peak <= capacity; }
};

HbmUse CountHbm(const nn::StepProgram& program, const StepSetup& setup,
                const chip::Machine& machine);

}  // namespace wt::price
