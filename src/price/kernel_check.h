// A kernel against the host op that it stands for, by values on small random operands.
#pragma once

#include <string>

#include "nki/compare.h"
#include "nn/op.h"
#include "price/kernel_table.h"

namespace wt::price {

struct KernelCheck {
  const nn::StepProgram& program;
  const nn::Node& node;
  const KernelRow& row;
  std::string kernel;  // "linear.py:linear"
  int64_t extent = 0;  // so many of the node's rows; 0: all
  uint64_t seed = 1;
};

// "rms_norm: own.py:norm agrees with the host op on x=256x640:bf16 (…): error at most 0.002". Fails
// with kMismatch when an element is off by more than ToleranceOf: op, shape, the first such
// element.
Result<std::string> CheckKernel(const KernelCheck& check);

// By the coarsest type that the op computes with: bf16 2e-2 of the element and 1e-2 of the largest,
// fp32 1e-3 and 1e-4.
nki::Tolerance ToleranceOf(const nn::StepProgram& program, const nn::Node& node);

}  // namespace wt::price
