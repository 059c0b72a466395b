// Finds writes to on-chip memory and private HBM that nothing reads before they are overwritten or
// their tensor is let go.
#pragma once

#include <unordered_map>
#include <vector>

#include "chip/check/finding.h"
#include "chip/check/footprint.h"
#include "chip/core.h"

namespace wt::chip {

class DeadStoreCheck : public CoreObserver {
 public:
  explicit DeadStoreCheck(Findings* findings) : findings_(findings) {}

  void OnAllocate(const Tensor& tensor) override;
  void OnRelease(const Tensor& tensor) override;
  void OnInstr(const Machine& machine, const Instr& instr) override;

 private:
  struct Write {
    Footprint footprint;
    SourceId source = 0;
    const char* instr = "";
    std::string tensor;
  };
  void Read(const AccessPattern& pattern);
  void Overwrite(const AccessPattern& pattern, const Instr& instr);
  void Report(const Write& write, const char* how);

  Findings* findings_;
  std::unordered_map<TensorId, std::vector<Write>> unread_;
};

}  // namespace wt::chip
