// What decides the price of a step besides its program: the tool chain, the launch shape and how
// the update is organised. Recipes say it in [toolchain], [machine], [optimizer] and [loss].
#pragma once

#include <cstdint>
#include <string>

namespace wt::price {

enum class Mode : uint8_t { kKernels, kCompiled, kEager };
// Which of the optimiser's work and state is split over ranks.
enum class Sharding : uint8_t { kNone, kMuon, kZero1, kZero2 };
// Learned scalars: a tensor each, or stacked into one.
enum class Scalars : uint8_t { kEach, kStacked };
// How the update reaches the chip: op by op, op by op without waiting, or as one program.
enum class Dispatch : uint8_t { kEager, kAsync, kCompiled };
// Where the gradients of micro-batches are summed.
enum class Accumulate : uint8_t { kHost, kGraph };

// Which fp32 products the compiler runs in bf16.
enum class AutoCast : uint8_t { kNone, kMatmult };

struct ToolchainConfig {
  Mode mode = Mode::kCompiled;
  int64_t opt_level = 3;  // of neuronx-cc
  AutoCast auto_cast = AutoCast::kNone;
};

struct MachineConfig {
  std::string name = "trn2";  // of data/chips
  int64_t lnc = 1;            // physical cores of one rank
  int64_t ranks = 8;
};

struct StepSetup {
  ToolchainConfig toolchain;
  MachineConfig machine;
  Sharding sharding = Sharding::kNone;
  Scalars scalars = Scalars::kEach;
  Dispatch dispatch = Dispatch::kEager;
  Accumulate accumulate = Accumulate::kHost;
  bool fused_loss = false;
  int64_t context = 1024;
  int64_t tokens_per_step = 65536;  // of all ranks
  int64_t micro_batches = 1;        // of one rank in a step
  double budget = 1800;             // seconds
};

}  // namespace wt::price
