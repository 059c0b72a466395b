#include "chip/check/race.h"

#include <algorithm>
#include <string_view>

#include "chip/isa.h"

namespace wt::chip {
namespace {

bool Writes(Role role) { return role == Role::kWrite || role == Role::kReadWrite; }

void Join(const std::array<uint64_t, kNumEngines + 1>& from,
          std::array<uint64_t, kNumEngines + 1>* to) {
  for (size_t i = 0; i < from.size(); ++i) (*to)[i] = std::max((*to)[i], from[i]);
}

size_t Index(Engine engine) { return static_cast<size_t>(engine); }

}  // namespace

// Dependencies through one and the same tensor are semaphores that the compiler inserts.
void AliasRaceCheck::Order(const Record& access, Clock* clock) const {
  for (const std::vector<Record>& records : records_) {
    for (const Record& record : records) {
      if (record.tensor == access.tensor && (record.write || access.write) &&
          Intersect(record.footprint, access.footprint)) {
        Join(record.clock, clock);
      }
    }
  }
}

void AliasRaceCheck::Report(const Record& access, const Clock& clock) {
  for (const std::vector<Record>& records : records_) {
    for (const Record& record : records) {
      const bool ordered =
          record.engine == access.engine || record.time <= clock[Index(record.engine)];
      if (record.tensor == access.tensor || ordered || !(record.write || access.write)) continue;
      if (!Intersect(record.footprint, access.footprint)) continue;
      findings_->Add(
          {ErrorClass::kRace,
           fmt::format("{} on the {} engine and {} on the {} engine touch the same bytes under "
                       "different names, and neither waits for the other",
                       record.instr, EngineName(record.engine), access.instr,
                       EngineName(access.engine)),
           access.source, record.source, 1});
    }
  }
}

void AliasRaceCheck::OnInstr(const Machine&, const Instr& instr) {
  const Engine engine = instr.engine != Engine::kUnknown ? instr.engine : instr.def->default_engine;
  Clock clock = known_[Index(engine)];
  std::vector<Record> accesses;
  for (size_t i = 0; i < instr.operands.size(); ++i) {
    const AccessPattern& pattern = instr.operands[i];
    if (!pattern.on_chip() || !pattern.tensor->address) continue;
    accesses.push_back({FootprintOf(pattern),
                        pattern.tensor->id,
                        Writes(instr.roles[i]),
                        engine,
                        0,
                        {},
                        instr.source,
                        instr.def->name});
  }
  for (const Record& access : accesses) Order(access, &clock);
  for (const Record& access : accesses) Report(access, clock);
  clock[Index(engine)] = ++issued_[Index(engine)];
  known_[Index(engine)] = clock;
  for (size_t i = 0, a = 0; i < instr.operands.size(); ++i) {
    const AccessPattern& pattern = instr.operands[i];
    if (!pattern.on_chip() || !pattern.tensor->address) continue;
    Record& access = accesses[a++];
    access.time = clock[Index(engine)];
    access.clock = clock;
    std::vector<Record>& records = records_[static_cast<size_t>(pattern.tensor->memory)];
    // A write stands for everything it covers; a later read for earlier ones of its engine.
    std::erase_if(records, [&](const Record& old) {
      const bool earlier_read =
          old.engine == access.engine && old.tensor == access.tensor && !old.write;
      return (access.write || earlier_read) && Covers(access.footprint, old.footprint);
    });
    records.push_back(std::move(access));
  }
}

class CoreRaceObserver : public CoreObserver {
 public:
  CoreRaceObserver(CoreRaceCheck* check, int rank) : check_(check), rank_(rank) {}

  void OnAllocate(const Tensor&) override {}
  void OnRelease(const Tensor&) override {}
  void OnInstr(const Machine&, const Instr& instr) override {
    const std::string_view name = instr.def->name;
    if (name == "core_barrier" || name == "sendrecv") {
      ++epoch_;
      return;
    }
    for (size_t i = 0; i < instr.operands.size(); ++i) {
      const AccessPattern& pattern = instr.operands[i];
      if (pattern.tensor->memory != Memory::kHbm || !pattern.tensor->shared) continue;
      check_->OnAccess(rank_, epoch_, Writes(instr.roles[i]), pattern, instr.source);
    }
  }

 private:
  CoreRaceCheck* check_;
  int rank_;
  uint64_t epoch_ = 0;  // meetings of the cores so far; both count the same ones
};

std::unique_ptr<CoreObserver> CoreRaceCheck::ObserverFor(int rank) {
  return std::make_unique<CoreRaceObserver>(this, rank);
}

void CoreRaceCheck::OnAccess(int rank, uint64_t epoch, bool write, const AccessPattern& pattern,
                             SourceId source) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Record>& records = records_[pattern.tensor->data];
  Record access{rank, epoch, write, FootprintOf(pattern), source};
  for (const Record& record : records) {
    if (record.rank == rank || record.epoch != epoch || !(record.write || write)) continue;
    if (!Intersect(record.footprint, access.footprint)) continue;
    // The same words whichever core came first.
    const Record& first = rank == 0 ? access : record;
    const Record& second = rank == 0 ? record : access;
    findings_->Add({ErrorClass::kRace,
                    fmt::format("core {} {} bytes of shared HBM tensor {} that core {} {}, with no "
                                "core_barrier in between",
                                first.rank, first.write ? "writes" : "reads", pattern.tensor->name,
                                second.rank, second.write ? "writes" : "reads"),
                    first.source, second.source, 1});
  }
  // The other core may still be one meeting behind; what is older can meet nothing any more.
  std::erase_if(records, [&](const Record& record) { return record.epoch + 1 < epoch; });
  records.push_back(std::move(access));
}

}  // namespace wt::chip
