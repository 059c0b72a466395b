// A kernel's time under several machines and tool chains: recorded once, scheduled for each.
//     kernel_variants FILE:FUNC --arg NAME=VALUE … --under MACHINE:POLICY …
// Machine and policy are names or .toml files. Costs of instructions are trn2's: machines may
// differ from it only in what the schedule itself reads (DMA, capacities).
// Prints {"latency_us": [...]}, in the order given. bench/accuracy asks what a fit would have
// chosen on other data.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "chip/policy.h"
#include "chip/recorder.h"
#include "chip/schedule.h"
#include "nki/run_kernel.h"

namespace wt {
namespace {

Result<std::unique_ptr<chip::Recorder>> Record(const std::string& kernel,
                                               const std::vector<std::string>& arguments,
                                               const std::string& machine) {
  nki::KernelRun run;
  WT_ASSIGN_OR_RETURN(std::tie(run.file, run.function), nki::SplitKernelName(kernel));
  for (const std::string& text : arguments) {
    WT_ASSIGN_OR_RETURN(nki::KernelArg argument, nki::ParseKernelArg(text, {.values = false}));
    run.args.push_back(std::move(argument));
  }
  run.platform = machine;
  run.options.values = false;
  std::unique_ptr<chip::Recorder> recorder;
  run.attach = [&](chip::Core& core) {
    recorder = std::make_unique<chip::Recorder>(core.shared_sources());
    core.AddObserver(recorder.get());
  };
  WT_RETURN_IF_ERROR(nki::RunKernel(run).status());
  return recorder;
}

Status Main(const std::string& kernel, const std::vector<std::string>& arguments,
            const std::vector<std::string>& settings) {
  WT_ASSIGN_OR_RETURN(const auto recorder, Record(kernel, arguments, "trn2"));
  std::printf("{\"latency_us\": [");
  for (const std::string& setting : settings) {
    const size_t colon = setting.find(':');
    if (colon == std::string::npos) {
      return Error(Code::kInvalidArgument, "--under {}: expected MACHINE:POLICY", setting);
    }
    WT_ASSIGN_OR_RETURN(const auto machine, chip::Machine::Load(setting.substr(0, colon)));
    WT_ASSIGN_OR_RETURN(const auto policy, chip::LoadPolicy(setting.substr(colon + 1)));
    WT_ASSIGN_OR_RETURN(const auto result, chip::Schedule(*machine, policy, recorder->program()));
    std::printf("%s%.6g", &setting == settings.data() ? "" : ", ", result.latency_ns / 1e3);
  }
  std::printf("]}\n");
  return {};
}

}  // namespace
}  // namespace wt

int main(int argc, char** argv) {
  CLI::App app{"A kernel's time under several machines and tool chains"};
  std::string kernel;
  std::vector<std::string> arguments, settings;
  app.add_option("kernel", kernel, "FILE:FUNC")->required();
  app.add_option("--arg", arguments, "NAME=VALUE, as of windtunnel kernel");
  app.add_option("--under", settings, "MACHINE:POLICY")->required();
  CLI11_PARSE(app, argc, argv);
  const wt::Status status = wt::Main(kernel, arguments, settings);
  if (!status.ok()) std::fprintf(stderr, "kernel_variants: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
