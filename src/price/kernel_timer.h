// Time of one kernel for given shapes on the simulated core: recorded without values, scheduled
// under the tool chain's policy, kept on disk by everything that decides it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "chip/machine.h"
#include "chip/policy.h"
#include "nki/arg_spec.h"

namespace wt::price {

struct KernelTime {
  double seconds = 0;  // without the fixed cost of a launch
  double bytes = 0;    // from and to HBM
  chip::Engine busiest = chip::Engine::kUnknown;
};

class KernelTimer {
 public:
  // `cache`: a folder; empty: nothing is kept. `paired`: the neighbour core does the same work at
  // the same time, and they share HBM as the machine file says.
  static Result<KernelTimer> Create(std::shared_ptr<const chip::Machine> machine,
                                    const std::string& cache, bool paired);

  // From memory or disk; false: it would have to be recorded.
  Result<bool> Known(const std::string& kernel, const std::vector<nki::KernelArg>& args);
  // `kernel`: "linear.py:linear". Fails with the kernel's own error, and with kCapacity when it is
  // longer than what can be recorded in reasonable time.
  Result<KernelTime> Time(const std::string& kernel, const std::vector<nki::KernelArg>& args);

 private:
  Result<std::string> KeyOf(const std::string& kernel, const std::vector<nki::KernelArg>& args);
  Result<std::string> FolderHash(const std::string& file);
  Result<KernelTime> Record(const std::string& kernel, const std::vector<nki::KernelArg>& args);
  bool Read(const std::string& key, KernelTime* time) const;
  void Write(const std::string& key, const KernelTime& time) const;

  std::shared_ptr<const chip::Machine> machine_;
  chip::Policy policy_;
  std::string cache_, common_;  // common_: what every key starts with
  bool paired_ = false;
  std::map<std::string, std::string> folders_;
  std::map<std::string, KernelTime> known_;
};

}  // namespace wt::price
