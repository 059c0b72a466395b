#include "chip/profile/advice.h"

#include <algorithm>

#include "chip/isa.h"

namespace wt::chip {
namespace {

constexpr double kLeastShare = 0.01;  // of the latency; smaller gains are noise
constexpr size_t kMostAdvice = 6;

double BusyOf(const Profile& profile, Engine engine) {
  return profile.busy_ns[static_cast<size_t>(engine)];
}

// Saving `saved_ns` of an engine's busy time shortens the kernel only until another engine is the
// busiest.
double GainFromBusy(const Profile& profile, Engine engine, double saved_ns) {
  double next = 0;
  for (int e = 0; e < kNumEngines; ++e) {
    if (static_cast<Engine>(e) != engine)
      next = std::max(next, profile.busy_ns[static_cast<size_t>(e)]);
  }
  return std::clamp(BusyOf(profile, engine) - next, 0.0, saved_ns);
}

void Reloads(const Profile& profile, std::vector<Advice>* advice) {
  const DmaStats& dma = profile.dma;
  if (dma.reloaded_bytes == 0) return;
  const double share = static_cast<double>(dma.reloaded_bytes) / static_cast<double>(dma.bytes());
  advice->push_back(
      {fmt::format(
           "{:.0f} % of the bytes moved were on chip before: hoist the loads out of the loop or "
           "block it so that loaded tiles are used more often",
           100 * share),
       GainFromBusy(profile, Engine::kDma, share * BusyOf(profile, Engine::kDma)), 0});
}

void SmallDescriptors(const Profile& profile, std::vector<Advice>* advice) {
  const DmaStats& dma = profile.dma;
  if (dma.small_bytes == 0 || dma.descriptors == 0) return;
  const double share = static_cast<double>(dma.small_bytes) / static_cast<double>(dma.bytes());
  // Engines at full descriptors move bytes at the core's rate; what is above that is overhead.
  const double busy = BusyOf(profile, Engine::kDma);
  const double ideal = profile.mbu * profile.latency_ns;
  advice->push_back(
      {fmt::format(
           "{:.0f} % of the bytes move in descriptors averaging {:.0f} B: give each partition "
           "longer contiguous rows",
           100 * share, dma.average_descriptor_bytes),
       GainFromBusy(profile, Engine::kDma, std::max(0.0, busy - ideal)), 0});
}

void PowerLimit(const Profile& profile, std::vector<Advice>* advice) {
  if (profile.pe_limited_ns <= 0) return;
  advice->push_back(
      {fmt::format(
           "the tensor engine ran {:.0f} % of its time at half rate: it only leaves the power "
           "limit "
           "when most of the array works without gaps; use 128 rows and columns and longer runs of "
           "products",
           100 * profile.pe_limited_ns / std::max(1.0, BusyOf(profile, Engine::kTensor))),
       GainFromBusy(profile, Engine::kTensor, profile.pe_limited_ns / 2), 0});
}

void TableLoads(const Profile& profile, std::vector<Advice>* advice) {
  if (profile.table_load_ns <= 0) return;
  advice->push_back(
      {"activation functions of different table sets alternate: group calls of one function",
       GainFromBusy(profile, Engine::kScalar, profile.table_load_ns), 0});
}

// Products whose rate is far under bf16's while the array is filled: fp32 operands.
void SlowProducts(const Machine& machine, const Program& program, const Profile& profile,
                  std::vector<Advice>* advice) {
  double slow_ns = 0, saved_ns = 0;
  SourceId source = 0;
  for (const TimedInstr& instr : program.instrs) {
    if (instr.engine != Engine::kTensor || instr.flops <= 0 || instr.flags & kTransposes) continue;
    const double ideal =
        instr.flops / (machine.peak_tflops_bf16 * 1e3) / std::max(0.01f, instr.array_activity);
    if (instr.interval_ns[0] < 3 * ideal) continue;
    slow_ns += instr.interval_ns[0];
    saved_ns += instr.interval_ns[0] - ideal;
    source = instr.source;
  }
  if (slow_ns < kLeastShare * profile.latency_ns) return;
  advice->push_back(
      {"fp32 products take four times as long as bf16 ones: load or cast the operands as bf16",
       GainFromBusy(profile, Engine::kTensor, saved_ns), source});
}

void HalfEmptyArray(const Program& program, const Profile& profile, std::vector<Advice>* advice) {
  double lost_ns = 0, worst = 0;
  SourceId source = 0;
  for (const TimedInstr& instr : program.instrs) {
    if (instr.engine != Engine::kTensor || instr.flops <= 0 || instr.array_activity >= 0.9f)
      continue;
    const double lost = instr.interval_ns[0] * (1 - instr.array_activity);
    lost_ns += lost;
    if (lost > worst) {
      worst = lost;
      source = instr.source;
    }
  }
  if (lost_ns <= 0) return;
  advice->push_back(
      {"products use part of the 128 x 128 array: pack two short contractions into row tiles or "
       "widen the stationary operand",
       GainFromBusy(profile, Engine::kTensor, lost_ns), source});
}

// Work of one engine that another, less busy one could take.
void Balance(const Program& program, const Profile& profile, std::vector<Advice>* advice) {
  const double vector = BusyOf(profile, Engine::kVector), scalar = BusyOf(profile, Engine::kScalar);
  const Engine busy = vector > scalar ? Engine::kVector : Engine::kScalar;
  const Engine other = vector > scalar ? Engine::kScalar : Engine::kVector;
  if (profile.busiest != busy) return;
  for (const LineCost& line : profile.lines) {
    const double on_busy = line.busy_ns[static_cast<size_t>(busy)];
    const auto movable =
        std::find_if(program.instrs.begin(), program.instrs.end(), [&](const TimedInstr& instr) {
          return instr.source == line.source && instr.engines.has(other) && instr.engines.has(busy);
        });
    if (on_busy <= 0 || movable == program.instrs.end()) continue;
    advice->push_back(
        {fmt::format(
             "{} is the busiest engine and {} could do this: name engine=nki.isa.engine.{} for "
             "a part of it",
             EngineName(busy), EngineName(other), EngineName(other)),
         std::min(on_busy, std::abs(vector - scalar)) / 2, line.source});
    return;
  }
}

const char* StallAdvice(const Stall& stall) {
  switch (stall.wait) {
    case Wait::kBuffer:
      return "waits for an on-chip buffer: use smaller tiles or free them earlier, so that several "
             "fit";
    case Wait::kReuse:
      return "waits until its output buffer has been read: alternate between two buffers";
    case Wait::kDma:
      return "waits for DMA: issue fewer, larger transfers, and earlier";
    case Wait::kData:
      return stall.waiting_for == Engine::kDma
                 ? "waits for a load: start it an iteration earlier (prefetch into a second tile)"
                 : "waits for a result: put independent work between the two, or split the tile so "
                   "that they "
                   "overlap";
    case Wait::kOrder:
      return "waits because the kernel fixes the order here: narrow the no_reorder block";
    case Wait::kCore:
      return "waits for the other core: balance the two cores' work or exchange less often";
    default:
      return nullptr;
  }
}

void TopStalls(const Profile& profile, std::vector<Advice>* advice) {
  constexpr size_t kMost = 3;
  for (size_t i = 0; i < std::min(kMost, profile.stalls.size()); ++i) {
    if (const char* text = StallAdvice(profile.stalls[i])) {
      advice->push_back({text, profile.stalls[i].ns, profile.stalls[i].waiting_source});
    }
  }
}

void Envelope(const Profile& profile, std::vector<Advice>* advice) {
  constexpr double kLarge = 0.3;
  if (profile.envelope_ns < kLarge * profile.latency_ns) return;
  advice->push_back(
      {"most of the time is the fixed cost of launching a kernel: fuse it with its neighbours",
       profile.envelope_ns, 0});
}

}  // namespace

std::vector<Advice> RankAdvice(const Machine& machine, const Program& program,
                               const Profile& profile) {
  std::vector<Advice> advice;
  Reloads(profile, &advice);
  SmallDescriptors(profile, &advice);
  PowerLimit(profile, &advice);
  TableLoads(profile, &advice);
  SlowProducts(machine, program, profile, &advice);
  HalfEmptyArray(program, profile, &advice);
  Balance(program, profile, &advice);
  TopStalls(profile, &advice);
  Envelope(profile, &advice);
  std::erase_if(
      advice, [&](const Advice& item) { return item.gain_ns < kLeastShare * profile.latency_ns; });
  std::stable_sort(advice.begin(), advice.end(),
                   [](const Advice& a, const Advice& b) { return a.gain_ns > b.gain_ns; });
  if (advice.size() > kMostAdvice) advice.resize(kMostAdvice);
  return advice;
}

}  // namespace wt::chip
