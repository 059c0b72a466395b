// How fast our own kernels are timed: instructions a second that are recorded through Python,
// scheduled once, profiled, and profiled with the band between policies; and what a trace adds to a
// profile. All in processor time, medians of several turns.
//     profile_bench [--rounds 3] [--size 4096] [--trace-out PATH]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "base/files.h"
#include "base/home.h"
#include "chip/policy.h"
#include "chip/profile/profiler.h"
#include "chip/profile/trace.h"
#include "chip/recorder.h"
#include "nki/run_kernel.h"

namespace wt {
namespace {

struct Options {
  int rounds = 3;
  int64_t size = 4096;
  std::string trace = "profile_bench.pftrace";
};

struct Kernel {
  std::string name, file, function;
  std::vector<nki::KernelArg> args;
};

nki::KernelArg Array(const char* name, DType dtype, std::vector<int64_t> shape) {
  return {name, nki::HostArray{dtype, std::move(shape), {}}};
}

std::vector<Kernel> Kernels(int64_t n) {
  const DType bf16 = DType::kBF16, f32 = DType::kF32;
  std::vector<Kernel> kernels{{"matmul, tiled", "matmul.py", "matmul_tiled", {}},
                              {"matmul, blocked", "matmul.py", "matmul_blocked", {}},
                              {"attention",
                               "attention.py",
                               "attention",
                               {Array("q", bf16, {2, n, 1024}),
                                Array("k", bf16, {2, n, 1024}),
                                Array("v", bf16, {2, n, 1024}),
                                {"head_dim", std::string("128")}}},
                              {"adamw", "adamw.py", "adamw", {}}};
  for (Kernel& kernel : kernels) {
    if (kernel.file == "matmul.py")
      kernel.args = {Array("lhsT", bf16, {2 * n, 2 * n}), Array("rhs", bf16, {2 * n, 3 * n})};
    if (kernel.file == "adamw.py")
      for (const char* name : {"p", "g", "m", "v"})
        kernel.args.push_back(Array(name, f32, {128, n * 1024}));
  }
  return kernels;
}

double CpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Recorded {
  chip::Program program;
  std::shared_ptr<const chip::Machine> machine;
  double seconds = 0;
};

Result<Recorded> Record(const Kernel& kernel, const chip::Policy& policy) {
  std::unique_ptr<chip::Recorder> recorder;
  nki::KernelRun run;
  run.file = HomeFolder() + "/kernels/" + kernel.file;
  run.function = kernel.function;
  run.args = kernel.args;
  run.options.values = false;
  run.attach = [&](chip::Core& core) {
    recorder = std::make_unique<chip::Recorder>(core.shared_sources());
    core.AddObserver(recorder.get());
  };
  const double start = CpuSeconds();
  WT_ASSIGN_OR_RETURN(const nki::KernelResult result, nki::RunKernel(run));
  const double seconds = CpuSeconds() - start;
  return Recorded{chip::LowerProgram(*result.machine, policy, recorder->program()), result.machine,
                  seconds};
}

struct Times {
  std::vector<double> schedule, profile, trace, band;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// One turn of each, so that a busy moment of the machine meets all.
Status Turn(const Options& options, const Recorded& recorded, const chip::Policy& policy,
            Times* times) {
  const chip::Machine& machine = *recorded.machine;
  const chip::Program& program = recorded.program;
  double start = CpuSeconds();
  const auto lap = [&start] {
    const double now = CpuSeconds(), seconds = now - start;
    start = now;
    return seconds;
  };
  WT_RETURN_IF_ERROR(chip::Schedule(machine, policy, program).status());
  times->schedule.push_back(lap());
  chip::ProfileOptions profile;
  profile.band = false;
  WT_RETURN_IF_ERROR(chip::MakeProfiles(machine, policy, {&program}, profile).status());
  times->profile.push_back(lap());
  chip::TraceRecorder trace(program);
  profile.sink = [&](size_t, uint64_t number, const chip::Scheduled& at) { trace.Add(number, at); };
  WT_ASSIGN_OR_RETURN(const auto profiles,
                      chip::MakeProfiles(machine, policy, {&program}, profile));
  WT_RETURN_IF_ERROR(
      trace.Write(options.trace, "profile_bench", profiles[0].sbuf, profiles[0].psum));
  times->trace.push_back(lap());
  profile.sink = nullptr;
  profile.band = true;
  WT_RETURN_IF_ERROR(chip::MakeProfiles(machine, policy, {&program}, profile).status());
  times->band.push_back(lap());
  return {};
}

Status Measure(const Options& options, const Kernel& kernel, const chip::Policy& policy) {
  WT_ASSIGN_OR_RETURN(const Recorded recorded, Record(kernel, policy));
  const auto count = static_cast<double>(recorded.program.size());
  Times times;
  for (int round = 0; round < options.rounds; ++round) {
    WT_RETURN_IF_ERROR(Turn(options, recorded, policy, &times));
  }
  WT_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(options.trace));
  const double schedule = Median(times.schedule), profile = Median(times.profile),
               band = Median(times.band), trace = Median(times.trace) - profile;
  std::printf("%-16s %8.0f %10.0f %10.0f %10.0f %10.0f %8.1f %8.1f %% %8.1f %%\n",
              kernel.name.c_str(), count, count / recorded.seconds, count / schedule,
              count / profile, count / band, static_cast<double>(file->bytes().size()) / 1e6,
              100 * trace / profile, 100 * trace / band);
  return {};
}

Status Main(const Options& options) {
  WT_ASSIGN_OR_RETURN(const chip::Policy policy, chip::LoadPolicy("nki-0.6"));
  std::printf("%-16s %8s %43s %8s %20s\n", "", "", "instructions a second", "trace",
              "a trace costs of");
  std::printf("%-16s %8s %10s %10s %10s %10s %8s %10s %10s\n", "kernel", "instrs", "recorded",
              "scheduled", "profiled", "with band", "MB", "a profile", "with band");
  for (const Kernel& kernel : Kernels(options.size)) {
    WT_RETURN_IF_ERROR(Measure(options, kernel, policy));
  }
  return {};
}

}  // namespace
}  // namespace wt

int main(int argc, char** argv) {
  CLI::App app{"Instructions a second, timed from recorded kernels"};
  wt::Options options;
  app.add_option("--rounds", options.rounds, "turns; medians count")->check(CLI::PositiveNumber);
  app.add_option("--size", options.size, "of a side: a multiple of 512");
  app.add_option("--trace-out", options.trace, "where the traces go, one over the other");
  CLI11_PARSE(app, argc, argv);
  const wt::Status status = wt::Main(options);
  if (!status.ok()) std::fprintf(stderr, "profile_bench: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
