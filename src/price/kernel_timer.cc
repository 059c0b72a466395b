#include "price/kernel_timer.h"

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/home.h"
#include "chip/recorder.h"
#include "chip/schedule.h"
#include "nki/run_kernel.h"
#include "price/kernel_call.h"

namespace wt::price {
namespace {

constexpr char kToolchain[] = "nki-0.6";
// Forty times the library's longest slice: what is longer is a mistake, or wants a smaller slice.
constexpr uint64_t kMaxInstructions = 4'000'000;

// The kernel's folder: what a kernel imports stands beside it.
Result<std::string> HashOfFolder(const std::string& file) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  WT_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                      ListFiles((folder.empty() ? "." : folder) + "/*.py"));
  std::string all;
  for (const std::string& path : files) {
    WT_ASSIGN_OR_RETURN(const std::string hash, Sha256OfFile(path));
    all += hash;
  }
  return Sha256(all);
}

chip::Engine Busiest(const chip::ScheduleResult& result) {
  const auto most = std::max_element(result.busy_ns.begin(), result.busy_ns.end());
  return static_cast<chip::Engine>(most - result.busy_ns.begin());
}

}  // namespace

Result<KernelTimer> KernelTimer::Create(std::shared_ptr<const chip::Machine> machine,
                                        const std::string& cache, bool paired) {
  KernelTimer timer;
  WT_ASSIGN_OR_RETURN(timer.policy_, chip::LoadPolicy(kToolchain));
  WT_ASSIGN_OR_RETURN(const std::string toolchain,
                      Sha256OfFile(HomeFolder() + "/data/toolchains/" + kToolchain + ".toml"));
  WT_ASSIGN_OR_RETURN(const std::string program, Sha256OfFile("/proc/self/exe"));
  timer.common_ = fmt::format("{} {} {} {}", machine->hash, toolchain, program, paired);
  timer.machine_ = std::move(machine);
  timer.paired_ = paired;
  timer.cache_ = cache;
  if (!cache.empty()) WT_RETURN_IF_ERROR(MakeFolders(cache));
  return timer;
}

Result<std::string> KernelTimer::FolderHash(const std::string& file) {
  const auto found = folders_.find(file);
  if (found != folders_.end()) return found->second;
  WT_ASSIGN_OR_RETURN(std::string hash, HashOfFolder(file));
  folders_[file] = hash;
  return hash;
}

Result<std::string> KernelTimer::KeyOf(const std::string& kernel,
                                       const std::vector<nki::KernelArg>& args) {
  WT_ASSIGN_OR_RETURN(const auto name, nki::SplitKernelName(kernel));
  const std::string file = KernelPath(name.first);
  if (!FileExists(file)) {
    return Error(Code::kNotFound, "{}: no such file, here or in kernels/; expected FILE.py:KERNEL",
                 name.first);
  }
  WT_ASSIGN_OR_RETURN(const std::string folder, FolderHash(file));
  return Sha256(fmt::format("{} {} {} {} {}", common_, folder,
                            std::filesystem::path(file).filename().string(), name.second,
                            ArgsText(args)));
}

Result<bool> KernelTimer::Known(const std::string& kernel,
                                const std::vector<nki::KernelArg>& args) {
  WT_ASSIGN_OR_RETURN(const std::string key, KeyOf(kernel, args));
  if (known_.count(key)) return true;
  KernelTime time;
  if (!Read(key, &time)) return false;
  known_[key] = time;
  return true;
}

Result<KernelTime> KernelTimer::Time(const std::string& kernel,
                                     const std::vector<nki::KernelArg>& args) {
  WT_ASSIGN_OR_RETURN(const std::string key, KeyOf(kernel, args));
  WT_ASSIGN_OR_RETURN(const bool known, Known(kernel, args));
  if (known) return known_[key];
  WT_ASSIGN_OR_RETURN(const KernelTime time, Record(kernel, args));
  known_[key] = time;
  Write(key, time);
  return time;
}

Result<KernelTime> KernelTimer::Record(const std::string& kernel,
                                       const std::vector<nki::KernelArg>& args) {
  WT_ASSIGN_OR_RETURN(const auto name, nki::SplitKernelName(kernel));
  nki::KernelRun run;
  run.file = KernelPath(name.first);
  run.function = name.second;
  run.args = args;
  run.platform = machine_->name;
  run.options.values = false;
  run.options.max_instructions = kMaxInstructions;
  std::unique_ptr<chip::Recorder> recorder;
  run.attach = [&](chip::Core& core) {
    recorder = std::make_unique<chip::Recorder>(core.shared_sources());
    core.AddObserver(recorder.get());
  };
  WT_RETURN_IF_ERROR(nki::RunKernel(run).status());
  recorder->Flush();
  chip::ScheduleResult result;
  if (paired_) {
    const chip::Program& program = recorder->program();
    WT_ASSIGN_OR_RETURN(const auto both,
                        chip::SchedulePair(*machine_, policy_, {&program, &program}));
    result = both[0].latency_ns > both[1].latency_ns ? both[0] : both[1];
  } else {
    WT_ASSIGN_OR_RETURN(result, chip::Schedule(*machine_, policy_, recorder->program()));
  }
  return KernelTime{1e-9 * (result.latency_ns - result.envelope_ns),
                    static_cast<double>(result.load_bytes + result.store_bytes), Busiest(result)};
}

// A file that cannot be read, or is no such file, counts as absent.
bool KernelTimer::Read(const std::string& key, KernelTime* time) const {
  if (cache_.empty()) return false;
  const auto text = ReadFile(cache_ + "/" + key + ".json");
  if (!text.ok()) return false;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("seconds") || !json["seconds"].is_number()) return false;
  time->seconds = json["seconds"];
  time->bytes = json.value("bytes", 0.0);
  time->busiest = static_cast<chip::Engine>(json.value("busiest", 0));
  return true;
}

// A name of this process's own, then renamed: several may write the same one.
void KernelTimer::Write(const std::string& key, const KernelTime& time) const {
  if (cache_.empty()) return;
  const nlohmann::json json = {{"seconds", time.seconds},
                               {"bytes", time.bytes},
                               {"busiest", static_cast<int>(time.busiest)}};
  const std::string path = cache_ + "/" + key + ".json";
  const std::string own = fmt::format("{}.{}", path, getpid());
  std::error_code ignored;
  if (WriteFileAtomic(own, json.dump()).ok()) std::filesystem::rename(own, path, ignored);
}

}  // namespace wt::price
