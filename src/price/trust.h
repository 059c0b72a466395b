// How far measured steps reach: the interval around a price, and flags where it rests on arithmetic
// alone.
#pragma once

#include <string>
#include <vector>

#include "nn/step_program.h"
#include "price/pricing.h"
#include "price/setup.h"

namespace wt::price {

// What of a program's shape the measured rows are sorted by.
struct ProgramShape {
  int64_t depth = 0, width = 0, head_dim = 0;  // attention layers; 0: none
  bool fp32 = false;                           // activations or products in fp32
};
ProgramShape ShapeOf(const nn::StepProgram& program);

struct Trust {
  double band = 0;  // plus or minus, as a share of the step
  std::string why;  // which band
  std::vector<std::string> flags;
};
Trust JudgeTrust(const nn::StepProgram& program, const StepSetup& setup, const Pricing& pricing);

}  // namespace wt::price
