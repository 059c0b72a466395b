// The kernels of a step: for every node that has one, ours or the team's, what it takes on the
// rank's cores; and which nodes have none, and why.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chip/machine.h"
#include "nn/step_program.h"
#include "price/kernel_timer.h"
#include "price/setup.h"

namespace wt::price {

// One execution of a node, on all cores of the rank.
struct NodeKernel {
  std::string kernel;  // "linear.py:linear"
  std::string basis;   // "2,048 and 4,096 of 8,192 rows recorded"; empty: all of them
  double seconds = 0, bytes = 0;
  chip::Engine busiest = chip::Engine::kUnknown;
};

struct KernelPrices {
  std::vector<std::optional<NodeKernel>> nodes;  // of the program, in order
  std::vector<std::string> notes;                // checks of the team's kernels; ops without one
};

struct KernelRequest {
  std::map<std::string, std::string> own;  // a recipe's [kernels]: op to "file.py:function"
  bool library = true;                     // whether the others are priced by ours
  std::string cache;                       // a folder for times; empty: none
  // Called before each kernel that has to be recorded, and with done == total at the end.
  std::function<void(size_t done, size_t total, const std::string& op)> progress;
};

// The team's kernels are first compared with the host op. Fails when one of them is wrong, does not
// run or names an op there is none of; ours that do not cover a node leave it to the compiler.
Result<KernelPrices> PriceKernels(const nn::StepProgram& program, const StepSetup& setup,
                                  std::shared_ptr<const chip::Machine> machine,
                                  const KernelRequest& request);

}  // namespace wt::price
