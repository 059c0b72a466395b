// What the kernel commands share: the options that say which kernel runs on what, and running it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chip/recorder.h"
#include "cli/common.h"
#include "nki/run_kernel.h"

namespace wt::cli {

struct KernelOptions {
  std::string kernel;             // FILE:FUNC
  std::vector<std::string> args;  // as nki/arg_spec.h reads them
  std::string machine;            // trn2, …; "": the environment's, else trn2
  int cores = 1;
  std::string grid;  // "4,2" for kernel[4, 2](…) of neuronxcc.nki
  uint64_t seed = 0;
  uint64_t max_instructions = 0;
  bool fp32 = false;  // no rounding to low precision
};

void AddKernelOptions(CLI::App* app, KernelOptions* options);

// The run that the options describe; values or shapes only.
nki::KernelRun KernelRunOf(const KernelOptions& options, bool values);

// One recorder a core, made as the run attaches cores.
class Recorders {
 public:
  void Attach(chip::Core& core);
  std::vector<const chip::Program*> programs() const;

 private:
  std::vector<std::unique_ptr<chip::Recorder>> recorders_;
};

}  // namespace wt::cli
