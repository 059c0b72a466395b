// windtunnel kernel profile: how long a kernel takes on the chip, why, and what to change.
#include "base/files.h"
#include "chip/policy.h"
#include "chip/profile/profile_text.h"
#include "chip/profile/profiler.h"
#include "chip/profile/trace.h"
#include "cli/kernel_command.h"

namespace wt::cli {
namespace {

struct ProfileArguments {
  KernelOptions kernel;
  std::string policy;  // "": the tool chain of the kernel's generation
  std::string json;
  std::string trace;
  bool values = false;
  bool no_band = false;
};

// Trace files of a pair: NAME.0.pftrace and NAME.1.pftrace.
std::string TracePath(const std::string& path, size_t core, size_t cores) {
  if (cores == 1) return path;
  const size_t dot = path.rfind('.');
  const std::string stem = path.substr(0, dot),
                    ending = dot == std::string::npos ? "" : path.substr(dot);
  return fmt::format("{}.{}{}", stem, core, ending);
}

Status WriteTraces(const std::string& path, const std::string& title,
                   const std::vector<chip::TraceRecorder>& traces,
                   const std::vector<chip::Profile>& profiles) {
  for (size_t core = 0; core < traces.size(); ++core) {
    WT_RETURN_IF_ERROR(traces[core].Write(TracePath(path, core, traces.size()),
                                          fmt::format("{}, core {}", title, core),
                                          profiles[core].sbuf, profiles[core].psum));
  }
  return {};
}

void Profile(const ProfileArguments& arguments) {
  Recorders recorders;
  nki::KernelRun run = KernelRunOf(arguments.kernel, arguments.values);
  run.attach = [&](chip::Core& core) { recorders.Attach(core); };
  const nki::KernelResult result = ValueOrExit(nki::RunKernel(run));
  const chip::Policy policy =
      ValueOrExit(chip::LoadPolicy(arguments.policy.empty() ? result.toolchain : arguments.policy));
  // The profile is of the instructions that run, after the tool chain's changes to them.
  std::vector<chip::Program> lowered;
  for (const chip::Program* program : recorders.programs()) {
    lowered.push_back(chip::LowerProgram(*result.machine, policy, *program));
  }
  std::vector<const chip::Program*> programs;
  for (const chip::Program& program : lowered) programs.push_back(&program);
  chip::ProfileOptions options;
  options.kernel = arguments.kernel.kernel;
  options.band = !arguments.no_band;
  std::vector<chip::TraceRecorder> traces;
  if (!arguments.trace.empty()) {
    for (const chip::Program* program : programs) traces.emplace_back(*program);
    options.sink = [&](size_t core, uint64_t number, const chip::Scheduled& at) {
      traces[core].Add(number, at);
    };
  }
  const std::vector<chip::Profile> profiles =
      ValueOrExit(chip::MakeProfiles(*result.machine, policy, programs, options));
  ExitOn(WriteTraces(arguments.trace,
                     fmt::format("{} on {}", arguments.kernel.kernel, result.machine->name), traces,
                     profiles));
  if (!arguments.json.empty()) {
    Json cores = Json::array();
    for (const chip::Profile& profile : profiles) cores.push_back(Json(chip::ProfileJson(profile)));
    const Json json = cores.size() == 1 ? cores[0] : cores;
    if (arguments.json == "-") return PrintJson(json);
    ExitOn(WriteFileAtomic(arguments.json, json.dump(2) + "\n"));
  }
  for (const chip::Profile& profile : profiles) {
    std::printf("%s", chip::ProfileText(profile).c_str());
  }
  if (!arguments.trace.empty()) {
    std::printf("\nTrace in %s: open it at ui.perfetto.dev\n", arguments.trace.c_str());
  }
}

}  // namespace

void AddKernelProfile(CLI::App* kernel) {
  auto arguments = std::make_shared<ProfileArguments>();
  CLI::App* profile =
      kernel->add_subcommand("profile", "time a kernel and say where the time goes");
  AddKernelOptions(profile, &arguments->kernel);
  profile->add_option("--policy", arguments->policy,
                      fmt::format("tool chain: {}; without, that of the kernel's generation",
                                  fmt::join(chip::PolicyNames(), ", ")));
  profile->add_flag("--values", arguments->values,
                    "simulate values too; needed where they decide what runs (run-time loops)");
  profile->add_flag("--no-band", arguments->no_band,
                    "one schedule only, not those of other tool chains");
  profile->add_option("--json", arguments->json,
                      "write the profile there as JSON; - for the screen");
  profile->add_option("--trace", arguments->trace, "write a Perfetto trace there");
  profile->callback([arguments] { Profile(*arguments); });
}

}  // namespace wt::cli
