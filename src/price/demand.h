// What a step asks of one core's engines and memory: each node's Work through the tool chain's
// lowering. No seconds yet, so that constants can be varied without counting again.
#pragma once

#include <vector>

#include "nn/step_program.h"
#include "price/pricing.h"
#include "price/setup.h"

namespace wt::price {

// One operand's way through HBM in one execution of a node.
struct Pass {
  nn::ValueId value = nn::kNoValue;
  double passes = 1;
  double bytes = 0;  // of all passes
};
std::vector<Pass> PassesOf(const nn::StepProgram& program, const nn::Node& node,
                           const Lowering& rule);

struct Demand {
  size_t node = 0;   // of the program
  double times = 1;  // executions in a step
  // Of one execution, on a whole rank.
  double model_flops = 0;     // of products, as the op counts them
  double unmasked_flops = 0;  // with the masked part of the score square
  double padded_flops = 0;    // and with what extents that are no multiple of 128 leave empty
  bool fp32_products = false;
  double bytes = 0;          // through HBM
  double head_bytes = 0;     // of those, of tensors cut into short heads
  double gathered_rows = 0;  // one by one, of value-embedding tables
  bool update = false;       // of the optimiser: its price is that of host and products
  const Lowering* rule = nullptr;
};

struct StepDemand {
  std::vector<Demand> nodes;
  int64_t muon_matrices = 0;   // updated by Muon
  int64_t scalar_tensors = 0;  // learned scalars, one tensor each
  double model_flops = 0;      // of products in a step of one rank, forward and backward
};

StepDemand CountDemand(const nn::StepProgram& program, const StepSetup& setup,
                       const Pricing& pricing);

}  // namespace wt::price
