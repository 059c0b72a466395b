// Finds accesses to the same bytes, at least one a write, that nothing puts in order. Within a
// core: tensors that share physical memory through fixed addresses, between which the compiler sees
// no dependency. Between the two cores of a pair: shared HBM without a core_barrier or sendrecv in
// between.
#pragma once

#include <array>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "chip/check/finding.h"
#include "chip/check/footprint.h"
#include "chip/core.h"

namespace wt::chip {

class AliasRaceCheck : public CoreObserver {
 public:
  explicit AliasRaceCheck(Findings* findings) : findings_(findings) {}

  void OnAllocate(const Tensor&) override {}
  void OnRelease(const Tensor&) override {}
  void OnInstr(const Machine& machine, const Instr& instr) override;

 private:
  // How many instructions of each engine are known to have finished.
  using Clock = std::array<uint64_t, kNumEngines + 1>;
  struct Record {
    Footprint footprint;
    TensorId tensor = kNoTensor;
    bool write = false;
    Engine engine = Engine::kUnknown;
    uint64_t time = 0;  // of its engine
    Clock clock{};      // known when it had finished
    SourceId source = 0;
    const char* instr = "";
  };
  void Order(const Record& access, Clock* clock) const;
  void Report(const Record& access, const Clock& clock);

  Findings* findings_;
  Clock issued_{};
  std::array<Clock, kNumEngines + 1> known_{};  // by engine: what its next instruction knows
  std::array<std::vector<Record>, 3> records_;  // by Memory: accesses not yet overwritten
};

// One for both cores; each core gets an observer of its own.
class CoreRaceCheck {
 public:
  explicit CoreRaceCheck(Findings* findings) : findings_(findings) {}
  std::unique_ptr<CoreObserver> ObserverFor(int rank);

 private:
  friend class CoreRaceObserver;
  struct Record {
    int rank = 0;
    uint64_t epoch = 0;
    bool write = false;
    Footprint footprint;
    SourceId source = 0;
  };
  void OnAccess(int rank, uint64_t epoch, bool write, const AccessPattern& pattern,
                SourceId source);

  std::mutex mutex_;
  Findings* findings_;
  std::unordered_map<const void*, std::vector<Record>> records_;  // by the tensor's bytes
};

}  // namespace wt::chip
