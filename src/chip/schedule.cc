#include "chip/schedule.h"

#include "chip/schedule/core_clock.h"
#include "chip/schedule/lowering.h"

namespace wt::chip {

const char* WaitName(Wait wait) {
  static constexpr const char* kNames[kNumWaits] = {"none", "data",  "reuse", "buffer", "queue",
                                                    "dma",  "table", "port",  "order",  "core"};
  return kNames[static_cast<size_t>(wait)];
}

// One core, or two that share HBM and meet at barriers.
class Simulation {
 public:
  Simulation(const Machine& machine, const Policy& policy, std::vector<ScheduleSink> sinks)
      : timing_(MakeTiming(machine, policy)) {
    for (ScheduleSink& sink : sinks) {
      cores_.push_back(std::make_unique<CoreClock>(machine, policy, std::move(sink)));
      cores_.back()->set_has_partner(sinks.size() > 1);
    }
  }

  CoreClock& core(size_t index) { return *cores_[index]; }

  // Goes on until a core needs its next segment or all are over.
  Status Run() {
    for (;;) {
      CoreClock* next = nullptr;
      bool needs_segment = false;
      for (auto& core : cores_) {
        if (core->wants_refill()) core->Refill();
        needs_segment |= core->needs_segment();
      }
      if (needs_segment) return {};
      for (auto& core : cores_) {
        if (core->next_ns() < (next == nullptr ? kNever : next->next_ns())) next = core.get();
      }
      if (next != nullptr) {
        next->Step();
        if (cores_.size() > 1) Share();
      } else if (!MeetAll()) {
        break;
      }
    }
    for (auto& core : cores_) {
      if (!core->drained()) {
        return Error(
            Code::kInvalidArgument,
            "schedule: a core waits at a barrier or sendrecv that the other never reaches; "
            "both cores of a pair must meet equally often");
      }
    }
    return {};
  }

 private:
  // HBM cannot feed both cores' DMA engines at full rate. Also lets cores meet.
  void Share() {
    double now_ns = 0, wanted = 0;
    for (auto& core : cores_) {
      now_ns = std::max(now_ns, core->now_ns());
      wanted += core->dma().active_engines() * timing_.dma_engine_bytes_per_ns;
    }
    const double pace = std::max(1.0, wanted / timing_.hbm_pair_bytes_per_ns);
    for (auto& core : cores_) core->dma().SetPace(now_ns, pace);
    MeetAll();
  }

  bool MeetAll() {
    double now_ns = 0;
    for (auto& core : cores_) {
      if (!core->at_meeting()) return false;
      now_ns = std::max(now_ns, core->meeting_since_ns());
    }
    for (auto& core : cores_) core->Meet(now_ns);
    return true;
  }

  const Timing timing_;
  std::vector<std::unique_ptr<CoreClock>> cores_;
};

Scheduler::Scheduler(const Machine& machine, const Policy& policy, ScheduleSink sink)
    : simulation_(std::make_unique<Simulation>(machine, policy,
                                               std::vector<ScheduleSink>{std::move(sink)})) {}
Scheduler::~Scheduler() = default;

Status Scheduler::Add(const Program& segment) {
  WT_RETURN_IF_ERROR(simulation_->core(0).Begin(segment, false));
  return simulation_->Run();
}

Result<ScheduleResult> Scheduler::Finish() {
  Program end;
  end.first = simulation_->core(0).next_number();
  WT_RETURN_IF_ERROR(simulation_->core(0).Begin(end, true));
  WT_RETURN_IF_ERROR(simulation_->Run());
  return simulation_->core(0).TakeResult();
}

Result<ScheduleResult> Schedule(const Machine& machine, const Policy& policy,
                                const Program& program, const ScheduleSink& sink) {
  Simulation simulation(machine, policy, {sink});
  WT_RETURN_IF_ERROR(simulation.core(0).Begin(program, true));
  WT_RETURN_IF_ERROR(simulation.Run());
  return simulation.core(0).TakeResult();
}

Program LowerProgram(const Machine& machine, const Policy& policy, const Program& program) {
  Lowering lowering(machine, policy);
  if (!lowering.active()) return program;
  Program lowered = lowering.Apply(program);
  lowered.sources = program.sources;
  return lowered;
}

Result<std::array<ScheduleResult, 2>> SchedulePair(const Machine& machine, const Policy& policy,
                                                   const std::array<const Program*, 2>& programs,
                                                   const std::array<ScheduleSink, 2>& sinks) {
  Simulation simulation(machine, policy, {sinks[0], sinks[1]});
  for (size_t i = 0; i < 2; ++i) {
    WT_RETURN_IF_ERROR(simulation.core(i).Begin(*programs[i], true));
  }
  WT_RETURN_IF_ERROR(simulation.Run());
  return std::array<ScheduleResult, 2>{simulation.core(0).TakeResult(),
                                       simulation.core(1).TakeResult()};
}

}  // namespace wt::chip
