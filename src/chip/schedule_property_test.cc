// Random programs: no hazard is ever broken, pieces give what the whole gives, and twice the same
// is the same. The twin looks at all pairs of instructions.
#include "base/random.h"
#include "chip/schedule_testing.h"

namespace wt::chip {
namespace {

constexpr Engine kEngines[] = {Engine::kTensor, Engine::kVector, Engine::kScalar, Engine::kGpSimd};

// A few tensors, many instructions on random boxes of them.
Program RandomProgram(uint64_t seed, int instrs) {
  Philox random(seed, 0);
  const auto below = [&](uint64_t n) { return random.NextBelow(n); };
  ProgramBuilder b;
  std::vector<ProgramBuilder::Slot> slots;
  for (int i = 0; i < 5; ++i) slots.push_back(b.Sbuf(512));
  slots.push_back(b.Hbm(1 << 16));
  for (int i = 0; i < instrs; ++i) {
    if (below(4) == 0) {
      const auto tile = slots[below(5)];
      below(2) ? b.Load(tile, 512, slots[5]) : b.Store(slots[5], 512, tile);
    } else {
      b.Run(kEngines[below(4)], 1 + static_cast<double>(below(200)));
      b.Latency(200 + static_cast<double>(below(100)));
    }
    const auto touches = below(3);
    for (uint64_t k = 0; k < touches; ++k) {
      const auto begin = static_cast<int64_t>(below(448));
      const auto slot = slots[below(5)];
      const int64_t end = begin + 1 + static_cast<int64_t>(below(64));
      below(2) ? b.Reads(slot, begin, end) : b.Writes(slot, begin, end);
    }
    if (below(50) == 0) b.Flags(kBarrier);
    if (i > 3 && below(20) == 0) b.After(below(static_cast<uint64_t>(i)));
  }
  return b.program();
}

bool Meet(const Access& a, const Access& b) {
  return a.slot == b.slot && a.row_begin < b.row_end && b.row_begin < a.row_end &&
         a.byte_begin < b.byte_end && b.byte_begin < a.byte_end;
}

// What `b`, later in the program, may not start before.
double Earliest(const Program& program, const Timeline& t, size_t a, size_t b) {
  const TimedInstr &first = program.instrs[a], &second = program.instrs[b];
  double earliest = 0;
  for (int i = 0; i < first.num_accesses; ++i) {
    for (int k = 0; k < second.num_accesses; ++k) {
      const Access& x = program.accesses[first.first_access + static_cast<size_t>(i)];
      const Access& y = program.accesses[second.first_access + static_cast<size_t>(k)];
      if ((!x.write && !y.write) || !Meet(x, y)) continue;
      const bool same_queue = first.engine == second.engine && t.at[a].queue == t.at[b].queue;
      const bool data = x.write && y.read;
      earliest = std::max(earliest, data || !same_queue ? t.at[a].done_ns : t.at[a].issue_ns);
    }
  }
  return earliest;
}

Policy PlainPolicy() {
  Policy policy = SmallPolicy();
  policy.rename_rewritten_sbuf = false;
  policy.window = 8;
  return policy;
}

TEST(ScheduleProperty, NoHazardIsBroken) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Program program = RandomProgram(seed, 150);
    const Timeline t = RunSchedule(program, PlainPolicy());
    for (size_t b = 0; b < program.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        ASSERT_GE(t.at[b].issue_ns, Earliest(program, t, a, b) - 1e-6)
            << "seed " << seed << ": " << a << " before " << b;
        if (program.instrs[a].flags & kBarrier || program.instrs[b].flags & kBarrier) {
          ASSERT_GE(t.at[b].issue_ns, t.at[a].done_ns - 1e-6) << seed;
        }
      }
    }
    for (const DeclaredEdge& edge : program.edges) {
      ASSERT_GE(t.at[edge.to].issue_ns, t.at[edge.from].done_ns - 1e-6) << seed;
    }
  }
}

TEST(ScheduleProperty, AnEngineNeverDoesTwoThings) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Program program = RandomProgram(seed, 150);
    const Timeline t = RunSchedule(program);
    for (size_t b = 0; b < program.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        if (t.at[a].engine != t.at[b].engine || t.at[a].engine == Engine::kDma) continue;
        ASSERT_TRUE(t.at[a].end_ns <= t.at[b].start_ns || t.at[b].end_ns <= t.at[a].start_ns);
      }
    }
  }
}

TEST(ScheduleProperty, RenamingNeverBreaksDataAndIsNeverSlowerByMuch) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Program program = RandomProgram(seed, 150);
    Policy policy = PlainPolicy();
    const double plain = RunSchedule(program, policy).result.latency_ns;
    policy.rename_rewritten_sbuf = true;
    EXPECT_LT(RunSchedule(program, policy).result.latency_ns, plain * 1.25) << seed;
  }
}

// The same program in pieces of `size`.
Result<ScheduleResult> InPieces(const Program& program, const Policy& policy, size_t size) {
  const Machine machine = SmallMachine();
  Scheduler scheduler(machine, policy);
  for (size_t begin = 0; begin < program.size(); begin += size) {
    const size_t end = std::min(program.size(), begin + size);
    Program piece;
    piece.first = begin;
    piece.decls = program.decls;
    piece.dmas = program.dmas;
    piece.accesses = program.accesses;
    piece.instrs.assign(program.instrs.begin() + static_cast<std::ptrdiff_t>(begin),
                        program.instrs.begin() + static_cast<std::ptrdiff_t>(end));
    for (const TensorEvent& event : program.events) {
      const bool first = begin == 0 && event.before == 0;
      if (first || (event.before > begin && event.before <= end)) piece.events.push_back(event);
    }
    for (const DeclaredEdge& edge : program.edges) {
      if (edge.to >= begin && edge.to < end) piece.edges.push_back(edge);
    }
    WT_RETURN_IF_ERROR(scheduler.Add(piece));
  }
  return scheduler.Finish();
}

TEST(ScheduleProperty, PiecesGiveWhatTheWholeGives) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Program program = RandomProgram(seed, 150);
    const Timeline whole = RunSchedule(program, PlainPolicy());
    for (const size_t size : {1, 7, 64}) {
      const auto pieces = InPieces(program, PlainPolicy(), size);
      ASSERT_TRUE(pieces.ok()) << pieces.status().message();
      EXPECT_EQ(pieces->latency_ns, whole.result.latency_ns) << seed << " " << size;
      EXPECT_EQ(pieces->busy_ns, whole.result.busy_ns);
    }
  }
}

TEST(ScheduleProperty, TheSameProgramGivesTheSameTimes) {
  const Program program = RandomProgram(3, 400);
  const Timeline one = RunSchedule(program), two = RunSchedule(program);
  for (size_t i = 0; i < program.size(); ++i) {
    ASSERT_EQ(one.at[i].start_ns, two.at[i].start_ns);
    ASSERT_EQ(one.at[i].done_ns, two.at[i].done_ns);
    ASSERT_EQ(one.at[i].waited_for, two.at[i].waited_for);
  }
}

// More than two rings: memory stays bounded and nothing waits for ever.
TEST(ScheduleProperty, LongProgramsPassThroughTheRing) {
  const Machine machine = SmallMachine();
  Scheduler scheduler(machine, SmallPolicy());
  ProgramBuilder b;
  const auto x = b.Sbuf(512);
  for (int i = 0; i < 1 << 16; ++i) {
    b.Vector(10).Writes(x);
    b.Scalar(10).Reads(x);
  }
  Program segment = b.program();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(scheduler.Add(segment).ok());
    segment.first += segment.size();
    segment.events.clear();
  }
  const auto result = scheduler.Finish();
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->num_instrs, uint64_t{5} << 17);
  EXPECT_NEAR(result->latency_ns, 10.0 * (5 << 16), 100);
}

}  // namespace
}  // namespace wt::chip
