// The simulated machine's numbers, read from data/chips/NAME.toml: sizes, clocks, laws of time,
// each with source and evidence. Nothing of it is in code.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "chip/cost.h"
#include "chip/isa.h"

namespace wt::chip {

// One law of time: completion = fixed_ns + elements * cycles_per_element / clock, the interval
// likewise.
struct Law {
  std::string id;                 // "vector.copy.f32"
  double fixed_ns = 0;            // of the completion
  double cycles_per_element = 0;  // of the engine's clock
  double min_cycles = 0;          // the least interval
  double interval_fixed_ns = 0;   // of the interval
  std::string source;
  Evidence evidence = Evidence::kGuessed;
};

class Machine {
 public:
  // Reads data/chips/NAME.toml (with what it says to inherit); `path` names a file directly.
  static Result<std::shared_ptr<const Machine>> Load(const std::string& name);
  static Result<std::shared_ptr<const Machine>> LoadFile(const std::string& path);

  std::string name;  // "trn2"
  Generation generation = Generation::kGen3;
  // Geometry.
  int partitions = 128;
  int64_t sbuf_partition_bytes = 0;         // physical
  int64_t sbuf_usable_partition_bytes = 0;  // what kernels may use
  int psum_banks = 0;
  int64_t psum_bank_bytes = 0;
  int64_t hbm_bytes = 0;                   // of a core pair
  int max_moving = 0, max_stationary = 0;  // nc_matmul free sizes
  int max_free_dims = 0;
  int64_t max_sbuf_elements = 0, max_psum_elements = 0;  // of one instruction, per partition
  std::array<double, kNumEngines> clock_ghz{};           // by Engine
  double peak_tflops_bf16 = 0;                           // of a core; the denominator of MFU
  double hbm_bytes_per_ns = 0;                           // of a core, the denominator of MBU

  // The law with this id; dies (our mistake) when the file lacks it: Load has checked all ids that
  // code names (machine_laws.h).
  const Law& law(int index) const { return laws[static_cast<size_t>(index)]; }
  std::vector<Law> laws;

  // A number by name ("dma.engine_bytes_per_ns"): everything that is neither geometry nor a law.
  // Load resolves the names that code uses to indices, as for laws (machine_laws.h).
  double constant(int index) const { return constants[static_cast<size_t>(index)]; }
  std::vector<double> constants;

  // Content of the file, hashed: part of every cache key and trace.
  std::string hash;
};

}  // namespace wt::chip
