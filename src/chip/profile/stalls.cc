#include "chip/profile/stalls.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace wt::chip {
namespace {

using Key = std::tuple<Wait, Engine, SourceId, SourceId>;

void AddGap(double ns, const Key& key, std::map<Key, Stall>* stalls) {
  Stall& stall = (*stalls)[key];
  std::tie(stall.wait, stall.waiting_for, stall.source, stall.waiting_source) = key;
  stall.ns += ns;
  ++stall.count;
}

std::vector<Stall> LongestFirst(const std::map<Key, Stall>& stalls) {
  std::vector<Stall> sorted;
  for (const auto& [key, stall] : stalls) sorted.push_back(stall);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Stall& a, const Stall& b) { return a.ns > b.ns; });
  return sorted;
}

}  // namespace

void StallCollector::Add(size_t index, const Scheduled& scheduled) {
  if (records_.size() <= index) records_.resize(index + 1);
  records_[index] = {scheduled.start_ns, scheduled.end_ns, scheduled.waited_for, scheduled.engine,
                     scheduled.wait};
}

std::vector<Stall> StallCollector::Finish(const Program& program, Engine engine, double end_ns,
                                          double* idle_ns) const {
  std::vector<uint32_t> own;
  for (uint32_t i = 0; i < records_.size(); ++i) {
    if (records_[i].engine == engine) own.push_back(i);
  }
  std::stable_sort(own.begin(), own.end(), [&](uint32_t a, uint32_t b) {
    return records_[a].start_ns < records_[b].start_ns;
  });
  std::map<Key, Stall> stalls;
  double free_ns = 0;
  *idle_ns = 0;
  for (uint32_t i : own) {
    const Record& record = records_[i];
    if (record.start_ns > free_ns) {
      const bool known = record.wait != Wait::kNone && record.waited_for < records_.size();
      const Engine other = known ? records_[record.waited_for].engine : Engine::kUnknown;
      const SourceId source = known ? program.instrs[record.waited_for].source : 0;
      AddGap(record.start_ns - free_ns, {record.wait, other, source, program.instrs[i].source},
             &stalls);
      *idle_ns += record.start_ns - free_ns;
    }
    free_ns = std::max(free_ns, record.end_ns);
  }
  // After its last instruction the engine waits for the rest of the kernel.
  if (end_ns > free_ns) {
    AddGap(end_ns - free_ns, {Wait::kNone, Engine::kUnknown, 0, 0}, &stalls);
    *idle_ns += end_ns - free_ns;
  }
  return LongestFirst(stalls);
}

}  // namespace wt::chip
