#include "chip/machine.h"

#include <algorithm>

#include "base/files.h"
#include "base/home.h"
#include "base/text_util.h"
#include "chip/machine_file.h"

namespace wt::chip {
namespace {

// "trn2" for every file of the folder.
std::vector<std::string> KnownMachines(const std::string& folder) {
  std::vector<std::string> names;
  const auto files = ListFiles(folder + "/*.toml");
  if (!files.ok()) return names;
  for (const std::string& file : *files) {
    const size_t begin = file.rfind('/') + 1;
    names.push_back(file.substr(begin, file.size() - begin - 5));
  }
  return names;
}

void FillGeometry(Machine* machine) {
  const auto whole = [&](ConstantId id) { return static_cast<int64_t>(machine->constant(id)); };
  machine->partitions = static_cast<int>(whole(ConstantId::kPartitions));
  machine->sbuf_partition_bytes = whole(ConstantId::kSbufPartitionBytes);
  machine->sbuf_usable_partition_bytes = whole(ConstantId::kSbufUsableBytes);
  machine->psum_banks = static_cast<int>(whole(ConstantId::kPsumBanks));
  machine->psum_bank_bytes = whole(ConstantId::kPsumBankBytes);
  machine->hbm_bytes = whole(ConstantId::kHbmPairBytes);
  machine->max_moving = static_cast<int>(whole(ConstantId::kMaxMoving));
  machine->max_stationary = static_cast<int>(whole(ConstantId::kMaxStationary));
  machine->max_free_dims = static_cast<int>(whole(ConstantId::kMaxFreeDims));
  machine->max_sbuf_elements = whole(ConstantId::kMaxSbufElements);
  machine->max_psum_elements = whole(ConstantId::kMaxPsumElements);
  machine->peak_tflops_bf16 = machine->constant(ConstantId::kPeakTflopsBf16);
  machine->hbm_bytes_per_ns = machine->constant(ConstantId::kHbmCoreRate);
}

Status FillClocks(Machine* machine) {
  constexpr std::pair<Engine, ConstantId> kClocks[] = {{Engine::kTensor, ConstantId::kClockTensor},
                                                       {Engine::kVector, ConstantId::kClockVector},
                                                       {Engine::kScalar, ConstantId::kClockScalar},
                                                       {Engine::kGpSimd, ConstantId::kClockGpSimd}};
  for (const auto& [engine, id] : kClocks) {
    machine->clock_ghz[static_cast<size_t>(engine)] = machine->constant(id);
    if (!(machine->constant(id) > 0)) {
      return Error(Code::kInvalidArgument, "{} must be over 0", ConstantName(id));
    }
  }
  return {};
}

// Cycles to nanoseconds, by the engine at the head of each law's name.
Status FillLaws(Machine* machine) {
  for (Law& law : machine->laws) {
    double ghz = 0;
    for (int i = 0; i < kNumEngines; ++i) {
      if (law.id.starts_with(EngineName(Engine(i)))) ghz = machine->clock_ghz[size_t(i)];
    }
    const bool counts = law.cycles_per_element > 0 || law.interval_cycles_per_element > 0;
    if (ghz == 0 && (counts || law.min_cycles > 0)) {
      return Error(Code::kInvalidArgument, "law.{} counts cycles of an engine without a clock",
                   law.id);
    }
    const double ns_per_cycle = ghz > 0 ? 1 / ghz : 0;
    law.ns_per_element = law.cycles_per_element * ns_per_cycle;
    law.interval_ns_per_element = law.interval_cycles_per_element * ns_per_cycle;
    law.min_ns = law.min_cycles * ns_per_cycle;
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const Machine>> Machine::Load(const std::string& name) {
  if (name.ends_with(".toml")) return LoadFile(name);
  const std::string folder = HomeFolder() + "/data/chips";
  const std::string path = folder + "/" + name + ".toml";
  if (FileExists(path)) return LoadFile(path);
  return Error(Code::kNotFound, "{} is not a chip of {}; known: {}", name, folder,
               Join(KnownMachines(folder), ", "));
}

Result<std::shared_ptr<const Machine>> Machine::LoadFile(const std::string& path) {
  const auto machine = std::make_shared<Machine>();
  machine->table_sets = {"any"};
  WT_RETURN_IF_ERROR(MachineFile(machine.get()).Read(path));
  FillGeometry(machine.get());
  WT_RETURN_IF_ERROR(FillClocks(machine.get()).WithContext(path));
  WT_RETURN_IF_ERROR(FillLaws(machine.get()).WithContext(path));
  return std::shared_ptr<const Machine>(machine);
}

bool Machine::StartAllowed(int start, int count) const {
  for (const StartRule& rule : start_rules) {
    if (count > rule.count) continue;
    return std::find(rule.starts.begin(), rule.starts.end(), start) != rule.starts.end();
  }
  return false;
}

Result<double> Machine::Inventory(std::string_view id) const {
  std::vector<std::string> known;
  for (const Constant& row : inventory) {
    if (row.id == id) return row.value;
    known.push_back(row.id);
  }
  return Error(Code::kNotFound, "{} has no inventory.{}; known: {}", name, id, Join(known, ", "));
}

}  // namespace wt::chip
