// The pricing model's numbers, read from data/pricing/NAME.toml: what a tool chain does to each op
// (lowering), the constants that turn passes into seconds, and how far to trust the result. Nothing
// of it is in code.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "chip/origin.h"

namespace wt::price {

// What a tool chain makes of one op: how often each operand passes through HBM. An op that is split
// into several passes every operand more than once.
struct Lowering {
  std::vector<double> reads, writes;  // passes by operand; the last number holds for all after it
  int64_t join_input = -1;            // an addend that is summed in an op of its own …
  double join_passes = 0;             // … at so many more passes of output 0
  double inner_bytes = 0;             // HBM bytes of one inner element (scores, logits)
  double inner_bytes_fused = -1;      // the same under loss.fused; negative: no difference
  double score_products = 0;       // attention: products of the whole score square; 0: as counted
  bool head_shaped = false;        // works on tensors cut into heads
  bool every_micro_batch = false;  // though it stands in the prepare phase
  bool gathers = false;            // row by row, at gather_seconds a token
  double launches = 1;             // ops that eager mode dispatches for it
  chip::Origin origin;
};

// One number of [constants]; `fitted` ones were set by measured steps.
struct Constant {
  std::string id, unit, rows;
  double value = 0, spread = 0;  // spread: of bootstrap samples
  bool fitted = false;
  chip::Origin origin;
};

struct Constants {
  double pe_efficiency = 0;         // share of peak that a compiler's products reach
  double fp32_slowdown = 0;         // of products of fp32 operands
  double pass_bytes_per_s = 0;      // of a core, in a pass over a tensor
  double head_bytes_per_s = 0;      // the same, tensors cut into short heads
  double short_head = 0;            // head dimensions up to this are short …
  double short_head_opt_level = 0;  // … from this optimisation level on
  double muon_flops_per_s = 0;      // of a core, in Newton-Schulz products
  double step_host_s = 0;           // host and synchronisation of a step
  double matrix_host_s = 0;         // an eager update of one matrix
  double scalar_host_s = 0;         // an eager update of one scalar tensor
  double async_share = 0;           // of those, what is left without waiting
  double zero1_share = 0, zero2_share = 0, graph_share = 0;  // likewise
  double compiled_update_s = 0;  // a step's host and update when that is one program
  double gather_s = 0;           // one token in one value-embedding table
  double eager_op_s = 0;         // dispatch of one op by each of eight processes
};

// An interval: how far measured steps of such recipes lie from their price.
struct Band {
  std::string when;  // "width above 1024"
  double share = 0;
};

struct Pricing {
  std::string name;
  Constants constants;
  std::vector<Constant> rows;  // of [constants], in the file's order
  std::map<std::string, Lowering> lowerings;
  std::map<std::string, double> bands;

  // The rule for an op; one pass over every operand when the file has none.
  const Lowering& LoweringOf(const std::string& op) const;
};

// Reads data/pricing/NAME.toml below HomeFolder(); a `name` that ends in .toml is a path.
Result<Pricing> LoadPricing(const std::string& name);

struct ConstantKey {
  const char* name;
  double Constants::*member;
};
std::span<const ConstantKey> ConstantKeys();

}  // namespace wt::price
