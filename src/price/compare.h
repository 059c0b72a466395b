// What one step costs more than another, op by op, and how sure that is.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "price/pricing.h"
#include "price/step_price.h"

namespace wt::price {

struct CostChange {
  std::string name;  // "linear in layers.mlp", or a part of the host's time
  double before = 0, after = 0;
  double seconds() const { return after - before; }
};

// Two prices share what they are wrong about: an op that both steps run for as long is mispriced by
// as much in both, and its error is no part of the difference. What is left is the error of the
// seconds that come or go, `moved`, and the scatter of compiled graphs, which is there even between
// equal ones. The bands paired_moved (of moved) and paired_step (of the mean step) of data/pricing
// say how large either is in pairs of measured steps. Where no pairs were measured (fp32, other
// contexts, part of a chip) the two prices count as independent.
struct PriceChange {
  double before = 0, after = 0;
  double moved = 0;      // seconds by which ops became longer, and those by which others shorter
  double reach = 0;      // half the interval of the difference
  double own_reach = 0;  // what it would be if the prices' own intervals were independent
  bool paired = false;   // whether shared errors were cancelled
  std::vector<CostChange> ops;  // that differ; the largest first
  double seconds() const { return after - before; }
  double low() const { return seconds() - reach; }
  double high() const { return seconds() + reach; }
  // Whether measured steps could tell the two apart.
  bool real() const { return low() > 0 || high() < 0; }
};

PriceChange ComparePrices(const StepPrice& before, const StepPrice& after, const Pricing& pricing);

nlohmann::ordered_json ChangeJson(const PriceChange& change);
// The difference with its interval, and the ops it is made of.
std::string ChangeText(const PriceChange& change);

}  // namespace wt::price
