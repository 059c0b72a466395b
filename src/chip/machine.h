// The simulated machine's numbers, read from data/chips/NAME.toml: sizes, clocks, laws of time,
// rules, each with source and evidence. Nothing of it is in code. machine_laws.h has the names.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "chip/cost.h"
#include "chip/isa.h"
#include "chip/machine_laws.h"
#include "chip/origin.h"

namespace wt::chip {

// One law of time: completion = fixed_ns + elements * ns_per_element, and likewise for the interval
// that takes the engine, which lasts min_ns at least.
struct Law {
  std::string id;  // "vector.copy_f32"
  double fixed_ns = 0;
  double cycles_per_element = 0;  // of the engine's clock
  double min_cycles = 0;
  double interval_fixed_ns = 0;
  double interval_cycles_per_element = 0;
  // From the above and the clock.
  double ns_per_element = 0, interval_ns_per_element = 0, min_ns = 0;
  Origin origin;

  double Interval(double elements) const {
    return std::max(min_ns, interval_fixed_ns + elements * interval_ns_per_element);
  }
  // From start until results are visible.
  double Completion(double elements) const {
    return std::max(Interval(elements), fixed_ns + elements * ns_per_element);
  }
};

struct Constant {
  std::string id;  // "dma.engines"
  double value = 0;
  Origin origin;
};

// A function of the Scalar engine.
struct ActivationRule {
  int table_set = 0;  // 0: in every set
  LawId law = LawId::kScalarActivation;
  LawId law_psum = LawId::kScalarActivation;  // with its data in PSUM
  // Arguments for which the function is defined; `symmetric`: their magnitudes.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool symmetric = false;
  Origin origin;

  bool Valid(double argument) const {
    const double x = symmetric ? std::abs(argument) : argument;
    return x >= low && x <= high;
  }
};

// An operand of up to `count` partitions may begin at these.
struct StartRule {
  int count = 0;
  std::vector<int64_t> starts;
  Origin origin;
};

class Machine {
 public:
  // Reads data/chips/NAME.toml (with what it inherits); the folder is below HomeFolder(). A `name`
  // that ends in .toml is a path.
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
  std::array<double, kNumEngines> clock_ghz{};           // by Engine; 0: none
  double peak_tflops_bf16 = 0;                           // of a core; the denominator of MFU
  double hbm_bytes_per_ns = 0;                           // of a core, the denominator of MBU

  const Law& law(LawId id) const { return laws[static_cast<size_t>(id)]; }
  double constant(ConstantId id) const { return constants[static_cast<size_t>(id)].value; }
  const Origin& origin(ConstantId id) const { return constants[static_cast<size_t>(id)].origin; }
  const ActivationRule& activation(Activation function) const {
    return activations[static_cast<size_t>(function)];
  }
  const std::string& table_set_name(int table_set) const {
    return table_sets[static_cast<size_t>(table_set)];
  }
  // chip.md 3.1: whether `count` partitions may begin at `start`.
  bool StartAllowed(int start, int count) const;
  // Of [inventory]: what later rooms ask for by name.
  Result<double> Inventory(std::string_view id) const;

  std::array<Law, kNumLaws> laws;
  std::array<Constant, kNumConstants> constants;
  std::array<ActivationRule, static_cast<size_t>(Activation::kCount)> activations;
  std::vector<std::string> table_sets;  // [0]: "any"
  std::vector<StartRule> start_rules;   // by count
  std::vector<Constant> inventory;
  Sources sources;

  // Content of the files, hashed: part of every cache key and trace.
  std::string hash;
};

}  // namespace wt::chip
