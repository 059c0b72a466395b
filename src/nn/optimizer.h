// The update at the end of a step: parameter groups, each with its rule, appended to a
// differentiated graph.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "nn/graph.h"

namespace wt::nn {

// Entries of a group's `hyper.NAME` input, f32 [kHyperSize], set by the trainer before each update.
enum class HyperIndex : uint8_t {
  kLr,
  kBeta1,
  kBeta2,
  kWeightDecay,
  kStep
};  // kBeta1: Muon's momentum
inline constexpr int64_t kHyperSize = 5;
std::string HyperInputName(const std::string& group);
inline constexpr char kMicroBatchesInput[] = "hyper.micro_batches";  // f32 [1]

struct MuonRule {
  int steps = 5;
  bool nesterov = true;
  bool row_equilibrate = false;
  bool renormalise = false;
  bool normuon = true;
  bool cautious = true;
};

struct OptimizerGroup {
  std::string name;
  bool muon = false;  // else AdamW
  MuonRule muon_rule;
  double adam_eps = 1e-10;
  std::vector<std::string> parameters;  // names; Muon takes matrices only
};

struct UpdateOutputs {
  ValueId gradient_norm = kNoValue;  // f32 [1], of the mean gradient
};

// Appends the optimiser phase. Every parameter must be in exactly one group. `clip` bounds the
// gradient's norm; 0: none. State tensors are named PARAMETER.adam_m, .adam_v, .muon_momentum,
// .muon_second.
Result<UpdateOutputs> AddOptimizer(Graph* graph, const std::vector<OptimizerGroup>& groups,
                                   double clip);

// A program that takes every parameter of `trained` into its running average PARAMETER.ema; input
// `ema.decay`, f32 [1].
Result<StepProgram> MakeEmaProgram(const StepProgram& trained);
// parameter = (1 - alpha) parameter + alpha average; input `ema.alpha`, f32 [1].
Result<StepProgram> MakeEmaBlendProgram(const StepProgram& trained);

}  // namespace wt::nn
