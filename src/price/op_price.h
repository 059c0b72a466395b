// Price of one node of a step: its kernel, or what the tool chain makes of it.
#pragma once

#include <string>

#include "chip/cost.h"
#include "nn/step_program.h"

namespace wt::price {

// What bounds an op's time.
enum class Bound : uint8_t { kProducts, kMemory, kShortHeads, kGather, kEngines, kUpdate };
const char* BoundName(Bound bound);

// One execution of one node's kernel, or of what the compiler makes of it.
struct KernelPrice {
  double products_s = 0, memory_s = 0, short_heads_s = 0, gather_s = 0;
  double engines_s = 0;  // of kernels: vector, scalar and GpSimd work
  double bytes = 0, flops = 0;
  double seconds() const { return products_s + memory_s + short_heads_s + gather_s + engines_s; }
  Bound bound() const;
};

struct OpPrice {
  std::string op, scope;
  nn::Phase phase = nn::Phase::kForward;
  double times = 1;  // in a step
  KernelPrice each;
  double waste = 0;  // of its array time: masked, padded
  bool fp32_products = false;
  std::string kernel, basis;  // of a kernel's price: its name; what was recorded, if not all of it
  chip::Evidence evidence = chip::Evidence::kGuessed;
  double seconds() const { return times * each.seconds(); }
};

}  // namespace wt::price
