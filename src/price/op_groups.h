// Ops of a step by kind and place: the same op of every block is one row, since blocks are alike.
#pragma once

#include <string>
#include <vector>

#include "price/step_price.h"

namespace wt::price {

struct OpGroup {
  std::string op, place;  // "linear", "layers.mlp"
  double seconds = 0, products = 0, memory = 0, engines = 0, flops = 0, bytes = 0, waste_s = 0;
  std::string name() const { return op + " in " + place; }
  const char* bound() const {
    if (engines > products && engines > memory) return "engines";
    return products > memory ? "products" : "memory";
  }
  double flops_per_byte() const { return bytes > 0 ? flops / bytes : 0; }
  double waste() const { return products > 0 ? waste_s / products : 0; }
};

// The longest first; figures of a whole step.
std::vector<OpGroup> GroupOps(const StepPrice& price);

}  // namespace wt::price
