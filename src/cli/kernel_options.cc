#include "cli/kernel_options.h"

namespace wt::cli {

void AddKernelOptions(CLI::App* app, KernelOptions* options) {
  app->add_option("kernel", options->kernel, "kernels/matmul.py:matmul_tiled")
      ->required()
      ->type_name("FILE:FUNC");
  app->add_option("--arg", options->args,
                  "an argument: x=128x512:bf16 (random values), x=file.npy, n=3, name=text; repeat")
      ->type_name("NAME=VALUE");
  app->add_option("--machine", options->machine, "trn1, trn2 or trn3 (default: trn2)");
  app->add_option("--lnc", options->cores, "cores of the logical core, 1 or 2; as kernel[2](…)")
      ->check(CLI::Range(1, 2));
  app->add_option("--grid", options->grid,
                  "launch grid of a kernel of neuronxcc.nki: 4,2 as kernel[4, 2](…); with --lnc 2 "
                  "a factor nc2, the cores: nc2*4 as kernel[nl.nc(2) * 4](…)")
      ->type_name("N[,N[,N]]");
  app->add_option("--seed", options->seed, "of random arguments and of the engines' generators");
  app->add_option("--max-instructions", options->max_instructions,
                  "stop a kernel that issues more than this on one core");
}

nki::KernelRun KernelRunOf(const KernelOptions& options, bool values) {
  nki::KernelRun run;
  const auto name = ValueOrExit(nki::SplitKernelName(options.kernel));
  run.file = name.first;
  run.function = name.second;
  nki::ArgOptions arg_options;
  arg_options.seed = options.seed;
  arg_options.values = values;
  for (const std::string& arg : options.args) {
    run.args.push_back(ValueOrExit(nki::ParseKernelArg(arg, arg_options)));
  }
  run.cores = options.cores;
  run.grid = options.grid;
  run.platform = options.machine;
  run.options.values = values;
  run.options.precise_fp = !options.fp32;
  run.options.max_instructions = options.max_instructions;
  run.options.seed = options.seed;
  return run;
}

void Recorders::Attach(chip::Core& core) {
  recorders_.push_back(std::make_unique<chip::Recorder>(core.shared_sources()));
  core.AddObserver(recorders_.back().get());
}

std::vector<const chip::Program*> Recorders::programs() const {
  std::vector<const chip::Program*> programs;
  for (const auto& recorder : recorders_) programs.push_back(&recorder->program());
  return programs;
}

}  // namespace wt::cli
