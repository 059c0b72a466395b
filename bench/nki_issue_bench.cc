// How many instructions a second reach the simulator from Python, without values: alone, and with
// the recorder that timing needs.
//     nki_issue_bench [--count 1000000]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>

#include "base/home.h"
#include "chip/recorder.h"
#include "nki/run_kernel.h"

namespace wt::nki {
namespace {

double CpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Instructions a second of CPU time.
Result<double> Measure(const std::string& kernel, int64_t count, bool record) {
  KernelRun run;
  run.file = HomeFolder() + "/bench/nki_issue_kernel.py";
  run.function = kernel;
  run.options.values = false;
  run.args.push_back({"count", std::to_string(count)});
  if (kernel == "copies") {
    run.args.push_back({"source", HostArray{DType::kBF16, {128, 4096}, {}}});
  }
  std::unique_ptr<chip::Recorder> recorder;
  run.attach = [&](chip::Core& core) {
    if (!record) return;
    recorder = std::make_unique<chip::Recorder>(
        core.shared_sources(), [](const chip::Program&) {}, 1 << 16);
    core.AddObserver(recorder.get());
  };
  const double start = CpuSeconds();
  WT_ASSIGN_OR_RETURN(const KernelResult result, RunKernel(run));
  return static_cast<double>(result.num_instructions[0]) / (CpuSeconds() - start);
}

Status Main(int64_t count) {
  std::printf("%-12s %22s %22s\n", "kernel", "instructions/s", "with recorder");
  for (const char* kernel : {"matmuls", "elementwise", "activations", "copies"}) {
    WT_RETURN_IF_ERROR(Measure(kernel, 10000, false).status());  // warm
    WT_ASSIGN_OR_RETURN(const double alone, Measure(kernel, count, false));
    WT_ASSIGN_OR_RETURN(const double recorded, Measure(kernel, count, true));
    std::printf("%-12s %22.0f %22.0f\n", kernel, alone, recorded);
  }
  return {};
}

}  // namespace
}  // namespace wt::nki

int main(int argc, char** argv) {
  CLI::App app{"Instructions a second through Python, without values"};
  int64_t count = 1000000;
  app.add_option("--count", count, "instructions a kernel")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  const wt::Status status = wt::nki::Main(count);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
