#include "chip/profile/profiler.h"

#include <algorithm>
#include <numeric>

#include "chip/profile/advice.h"
#include "chip/profile/dma_stats.h"
#include "chip/profile/stalls.h"

namespace wt::chip {
namespace {

struct Collectors {
  Collectors(const Machine& machine, const Program& program)
      : sbuf(program, Memory::kSbuf, machine.partitions),
        psum(program, Memory::kPsum, machine.partitions),
        lines(program.sources ? program.sources->size() : 1) {}

  StallCollector stalls;
  MemoryCollector sbuf, psum;
  std::vector<LineCost> lines;  // by SourceId
  std::array<int64_t, kNumEngines> instructions{};
  std::array<double, kNumEngines> active_ns{}, active_until_ns{};
  double flops = 0;

  void Add(const Program& program, size_t index, const Scheduled& scheduled) {
    const TimedInstr& instr = program.instrs[index];
    stalls.Add(index, scheduled);
    sbuf.Add(instr, scheduled);
    psum.Add(instr, scheduled);
    flops += instr.flops;
    const auto engine = static_cast<size_t>(scheduled.engine);
    ++instructions[engine];
    const double from_ns = std::max(scheduled.start_ns, active_until_ns[engine]);
    active_ns[engine] += std::max(0.0, scheduled.done_ns - from_ns);
    active_until_ns[engine] = std::max(active_until_ns[engine], scheduled.done_ns);
    LineCost& line = lines[instr.source < lines.size() ? instr.source : 0];
    line.busy_ns[engine] += scheduled.end_ns - scheduled.start_ns;
    ++line.instructions;
  }
};

double Most(const LineCost& line) {
  return *std::max_element(line.busy_ns.begin(), line.busy_ns.end());
}

std::vector<LineCost> CostlyLines(std::vector<LineCost> lines) {
  for (size_t i = 0; i < lines.size(); ++i) lines[i].source = static_cast<SourceId>(i);
  std::erase_if(lines, [](const LineCost& line) { return line.instructions == 0; });
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LineCost& a, const LineCost& b) { return Most(a) > Most(b); });
  return lines;
}

Engine Busiest(const Profile& profile) {
  const auto most = std::max_element(profile.busy_ns.begin(), profile.busy_ns.end());
  return static_cast<Engine>(most - profile.busy_ns.begin());
}

std::array<double, kNumEvidence> Shares(const std::array<double, kNumEvidence>& ns) {
  const double sum = std::accumulate(ns.begin(), ns.end(), 0.0);
  std::array<double, kNumEvidence> shares{};
  for (size_t i = 0; sum > 0 && i < shares.size(); ++i) shares[i] = ns[i] / sum;
  return shares;
}

// What tool chains are known to do differently, one rule at a time (docs/ACCURACY.md).
struct PolicyEnd {
  const char* rule;
  void (*apply)(Policy*);
};
constexpr PolicyEnd kPolicyEnds[] = {
    {"the order in which engines take instructions", [](Policy* p) { p->window = 1; }},
    {"how many copies of a tile are kept", [](Policy* p) { p->sbuf_copies = 2; }},
    {"how many copies of a tile are kept", [](Policy* p) { p->sbuf_copies = 8; }},
    {"whether a transfer may overtake another", [](Policy* p) { p->dma_window = 1; }},
    {"how loops of transfers are unrolled", [](Policy* p) { p->loop_bubble_ns = 0; }},
    {"where the power limit's windows begin", [](Policy* p) { p->limiter_phase = 0.5; }},
    {"the engine of unnamed instructions",
     [](Policy* p) { p->balance_engines = !p->balance_engines; }},
};

using Sink = std::function<void(size_t core, uint64_t number, const Scheduled& scheduled)>;

Result<std::vector<ScheduleResult>> ScheduleCores(const Machine& machine, const Policy& policy,
                                                  const std::vector<const Program*>& programs,
                                                  const Sink& sink) {
  const auto sink_of = [&](size_t core) -> ScheduleSink {
    if (!sink) return nullptr;
    return [&sink, core](uint64_t number, const Scheduled& at) { sink(core, number, at); };
  };
  if (programs.size() == 1) {
    WT_ASSIGN_OR_RETURN(const ScheduleResult result,
                        Schedule(machine, policy, *programs[0], sink_of(0)));
    return std::vector<ScheduleResult>{result};
  }
  WT_ASSIGN_OR_RETURN(const auto results, SchedulePair(machine, policy, {programs[0], programs[1]},
                                                       {sink_of(0), sink_of(1)}));
  return std::vector<ScheduleResult>(results.begin(), results.end());
}

Status AddBand(const Machine& machine, const Policy& policy,
               const std::vector<const Program*>& programs, std::vector<Profile>* profiles) {
  std::vector<double> widest(profiles->size());
  for (const PolicyEnd& end : kPolicyEnds) {
    Policy other = policy;
    end.apply(&other);
    if (other == policy) continue;
    WT_ASSIGN_OR_RETURN(const auto results, ScheduleCores(machine, other, programs, nullptr));
    for (size_t core = 0; core < results.size(); ++core) {
      Profile& profile = (*profiles)[core];
      const double ns = results[core].latency_ns;
      profile.band_low_ns = std::min(profile.band_low_ns, ns);
      profile.band_high_ns = std::max(profile.band_high_ns, ns);
      if (std::abs(ns - profile.latency_ns) <= widest[core]) continue;
      widest[core] = std::abs(ns - profile.latency_ns);
      profile.band_rule = end.rule;
    }
  }
  return {};
}

Profile ProfileOf(const Machine& machine, const Policy& policy, const Program& program,
                  const ScheduleResult& result, Collectors collectors) {
  Profile profile;
  profile.machine = machine.name;
  profile.policy = policy.name;
  profile.latency_ns = profile.band_low_ns = profile.band_high_ns = result.latency_ns;
  profile.envelope_ns = result.envelope_ns;
  profile.busy_ns = result.busy_ns;
  profile.active_ns = collectors.active_ns;
  profile.active_ns[static_cast<size_t>(Engine::kDma)] = result.dma_active_ns;
  profile.instructions = collectors.instructions;
  profile.busiest = Busiest(profile);
  profile.pe_limited_ns = result.pe_limited_ns;
  profile.table_load_ns = result.table_load_ns;
  profile.flops = collectors.flops;
  profile.mfu = profile.flops / (result.latency_ns * machine.peak_tflops_bf16 * 1e3);
  profile.dma = CountDma(program, machine);
  profile.mbu = static_cast<double>(profile.dma.load_bytes + profile.dma.store_bytes) /
                (result.latency_ns * machine.hbm_bytes_per_ns);
  profile.sbuf = collectors.sbuf.Finish();
  profile.psum = collectors.psum.Finish();
  profile.sbuf_bytes_peak = profile.sbuf.peak;
  profile.psum_banks_peak = result.psum_banks_peak;
  profile.oversubscribed = result.oversubscribed;
  profile.sources = program.sources;
  profile.lines = CostlyLines(std::move(collectors.lines));
  profile.stalls = collectors.stalls.Finish(
      program, profile.busiest, result.latency_ns - result.envelope_ns, &profile.idle_ns);
  profile.evidence_share = Shares(result.evidence_ns);
  return profile;
}

}  // namespace

Result<std::vector<Profile>> MakeProfiles(const Machine& machine, const Policy& policy,
                                          const std::vector<const Program*>& programs,
                                          const ProfileOptions& options) {
  std::vector<Collectors> collectors;
  for (const Program* program : programs) collectors.emplace_back(machine, *program);
  WT_ASSIGN_OR_RETURN(const auto results,
                      ScheduleCores(machine, policy, programs,
                                    [&](size_t core, uint64_t number, const Scheduled& at) {
                                      collectors[core].Add(*programs[core], number, at);
                                      if (options.sink) options.sink(core, number, at);
                                    }));
  std::vector<Profile> profiles;
  for (size_t core = 0; core < programs.size(); ++core) {
    profiles.push_back(
        ProfileOf(machine, policy, *programs[core], results[core], std::move(collectors[core])));
    profiles.back().kernel = options.kernel;
  }
  if (options.band) WT_RETURN_IF_ERROR(AddBand(machine, policy, programs, &profiles));
  for (size_t core = 0; core < programs.size(); ++core) {
    profiles[core].advice = RankAdvice(machine, *programs[core], profiles[core]);
  }
  return profiles;
}

}  // namespace wt::chip
