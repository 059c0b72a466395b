// How many instructions a second does the scheduler time on one core? Two made-up programs, and any
// recorded ones: schedule_bench [FILE …] [--benchmark_…]. Figures are of the CPU's time.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "chip/program_file.h"
#include "chip/schedule.h"

namespace {

using wt::chip::Access;
using wt::chip::DmaShape;
using wt::chip::Engine;
using wt::chip::Machine;
using wt::chip::Memory;
using wt::chip::Policy;
using wt::chip::Program;
using wt::chip::TensorDecl;
using wt::chip::TimedInstr;

class Writer {
 public:
  uint32_t Tile(Memory memory, int64_t bytes, wt::chip::SourceId site) {
    TensorDecl decl;
    decl.memory = memory;
    decl.partitions = memory == Memory::kHbm ? 1 : 128;
    decl.partition_bytes = bytes;
    decl.source = site;
    const auto found = std::find(program_.decls.begin(), program_.decls.end(), decl);
    const auto index = static_cast<uint32_t>(found - program_.decls.begin());
    if (found == program_.decls.end()) program_.decls.push_back(decl);
    program_.events.push_back({program_.size(), slots_, index, false});
    return slots_++;
  }

  TimedInstr& Run(Engine engine, float ns) {
    TimedInstr instr;
    instr.engine = engine;
    if (engine != Engine::kUnknown) instr.engines = {engine};
    if (engine == Engine::kUnknown) instr.engines = {Engine::kVector, Engine::kScalar};
    instr.first_access = static_cast<uint32_t>(program_.accesses.size());
    instr.interval_ns.fill(ns);
    instr.latency_ns.fill(ns + 100);
    instr.array_activity = 1;
    program_.instrs.push_back(instr);
    return program_.instrs.back();
  }

  Access& Touch(uint32_t slot, int64_t begin, int64_t end, bool read, bool write, bool whole) {
    Access access;
    access.slot = slot;
    access.row_end = 128;
    access.byte_begin = begin;
    access.byte_end = end;
    access.read = read;
    access.write = write;
    access.whole = whole;
    program_.accesses.push_back(access);
    ++program_.instrs.back().num_accesses;
    return program_.accesses.back();
  }

  // A tile of a matrix of `pitch` bytes a row.
  void Move(bool load, uint32_t tile, int64_t bytes, uint32_t hbm, uint32_t pitch, int64_t row,
            int64_t column) {
    Run(Engine::kDma, 50).dma = static_cast<int32_t>(program_.dmas.size());
    DmaShape shape;
    shape.bytes = bytes * 128;
    shape.descriptor_bytes = bytes;
    shape.partitions = 128;
    shape.load = load;
    shape.store = !load;
    program_.dmas.push_back(shape);
    Touch(tile, 0, bytes, !load, load, load);
    Access& rows = Touch(hbm, column, column + bytes, load, !load, false);
    rows.pitch = pitch;
    rows.row_begin = static_cast<int32_t>(row);
    rows.row_end = static_cast<int32_t>(row + 128);
  }

  Program Take() { return std::move(program_); }

 private:
  Program program_;
  uint32_t slots_ = 0;
};

// C = A B in bf16, tiles of 128 x 512, K of 16 x 128: loads, products, copies, stores.
Program TiledMatmul(int m_tiles, int n_tiles) {
  constexpr int kSteps = 16;
  constexpr uint32_t kPitch = 8192;
  Writer w;
  const uint32_t a = w.Tile(Memory::kHbm, 1 << 26, 1), b = w.Tile(Memory::kHbm, 1 << 26, 2),
                 c = w.Tile(Memory::kHbm, 1 << 26, 3);
  for (int m = 0; m < m_tiles; ++m) {
    for (int n = 0; n < n_tiles; ++n) {
      const uint32_t sum = w.Tile(Memory::kPsum, 2048, 10);
      for (int k = 0; k < kSteps; ++k) {
        const uint32_t left = w.Tile(Memory::kSbuf, 256, 11);
        const uint32_t right = w.Tile(Memory::kSbuf, 1024, 12);
        w.Move(true, left, 256, a, kPitch, k * 128, m * 256 % kPitch);
        w.Move(true, right, 1024, b, kPitch, k * 128, n * 1024 % kPitch);
        w.Run(Engine::kTensor, 213);
        w.Touch(left, 0, 256, true, false, false).stationary = true;
        w.Touch(right, 0, 1024, true, false, false);
        w.Touch(sum, 0, 2048, k > 0, true, k == 0);
      }
      const uint32_t out = w.Tile(Memory::kSbuf, 1024, 13);
      w.Run(Engine::kUnknown, 600);
      w.Touch(sum, 0, 2048, true, false, false);
      w.Touch(out, 0, 1024, false, true, true);
      w.Move(false, out, 1024, c, kPitch, m * 128, n * 1024 % kPitch);
    }
  }
  return w.Take();
}

// AdamW-like: four tiles in, ten steps on Vector and Scalar, three tiles out.
Program Elementwise(int trips) {
  Writer w;
  const uint32_t in = w.Tile(Memory::kHbm, 1 << 28, 1), out = w.Tile(Memory::kHbm, 1 << 28, 2);
  for (int trip = 0; trip < trips; ++trip) {
    std::vector<uint32_t> tiles;
    for (wt::chip::SourceId i = 0; i < 4; ++i) {
      tiles.push_back(w.Tile(Memory::kSbuf, 4096, 10 + i));
      w.Move(true, tiles.back(), 4096, in, 1 << 16, trip / 16 * 128, trip % 16 * 4096);
    }
    for (wt::chip::SourceId i = 0; i < 10; ++i) {
      const uint32_t tile = w.Tile(Memory::kSbuf, 4096, 20 + i);
      w.Run(i % 3 ? Engine::kVector : Engine::kScalar, 700);
      w.Touch(tiles[tiles.size() - 1], 0, 4096, true, false, false);
      w.Touch(tiles[tiles.size() - 4], 0, 4096, true, false, false);
      w.Touch(tile, 0, 4096, false, true, true);
      tiles.push_back(tile);
    }
    for (size_t i = 0; i < 3; ++i) {
      w.Move(false, tiles[11 + i], 4096, out, 1 << 16, trip / 16 * 128, trip % 16 * 4096);
    }
  }
  return w.Take();
}

void Time(benchmark::State& state, const Program& program, const std::string& policy_name) {
  const auto machine = Machine::Load("trn2");
  const auto policy = wt::chip::LoadPolicy(policy_name);
  if (!machine.ok() || !policy.ok()) {
    state.SkipWithError("no machine file");
    return;
  }
  for (auto _ : state) {
    const auto result = Schedule(**machine, *policy, program);
    if (!result.ok()) state.SkipWithError(result.status().message().c_str());
    benchmark::DoNotOptimize(result);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(program.size()));
}

void Register(const std::string& name, Program program) {
  for (const char* policy : {"nki-0.6", "neuronx-cc-2"}) {
    const auto shared = std::make_shared<Program>(program);
    benchmark::RegisterBenchmark((name + "/" + policy).c_str(), [=](benchmark::State& state) {
      Time(state, *shared, policy);
    })->Unit(benchmark::kMillisecond);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  Register("tiled matmul, 100k instructions", TiledMatmul(32, 64));
  Register("elementwise, 100k instructions", Elementwise(6000));
  for (int i = 1; i < argc; ++i) {
    auto program = wt::chip::LoadProgram(argv[i]);
    if (!program.ok()) {
      fmt::print(stderr, "{}\n", program.status().message());
      return 1;
    }
    Register(argv[i], std::move(*program));
  }
  benchmark::RunSpecifiedBenchmarks();
}
