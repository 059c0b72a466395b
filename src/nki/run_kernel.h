// Kernels from files, for programs: load FILE:FUNC, run it on given arguments, look on through
// observers (recorder, checks), get its outputs. What a Python caller gets by nki.simulate.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chip/core.h"
#include "nki/arg_spec.h"

namespace wt::nki {

struct KernelRun {
  std::string file;      // "kernels/matmul.py"
  std::string function;  // "matmul_tiled"; "" when the file has one kernel only
  std::vector<KernelArg> args;
  int cores = 1;         // 2: the pair of a logical core
  std::string grid;      // launch grid of a kernel of the older generation, "4,2"; "": none
  std::string platform;  // "trn2", "gen3", …; "": as the environment says
  chip::CoreOptions options;
  // Called for each core before its first tensor: adds observers, which must outlive the run.
  std::function<void(chip::Core& core)> attach;
};

struct KernelOutput {
  std::string name;  // "out", "out[1]", or an argument's name when the kernel wrote into it
  HostArray array;   // no bytes when values were not simulated
};

struct KernelResult {
  std::vector<KernelOutput> outputs;
  std::vector<uint64_t> num_instructions;                         // by core
  std::vector<std::shared_ptr<const chip::SourceTable>> sources;  // by core
  std::shared_ptr<const chip::Machine> machine;
  std::string toolchain;  // that kernels of this generation are compiled by: a policy's name
};

// A kernel's own mistakes come back as they would in Python: message with the author's traceback.
Result<KernelResult> RunKernel(const KernelRun& run);

// "kernels/matmul.py:matmul_tiled" to file and function. Requires no running interpreter.
Result<std::pair<std::string, std::string>> SplitKernelName(const std::string& text);

// A plain Python function (a reference) on the same arguments, as NumPy arrays. Needs NumPy.
Result<std::vector<HostArray>> RunFunction(const std::string& file, const std::string& function,
                                           const std::vector<KernelArg>& args);

}  // namespace wt::nki
