#include "price/compare.h"

#include <cmath>

#include "price/op_groups.h"

namespace wt::price {
namespace {

constexpr size_t kRows = 12;          // of ops in text
constexpr double kSmallest = 0.5e-6;  // seconds; what is less is rounding

using Costs = std::map<std::string, CostChange>;

void AddCosts(const StepPrice& price, double CostChange::*side, Costs* costs) {
  const auto add = [&](const std::string& name, double seconds) {
    CostChange& cost = (*costs)[name];
    cost.name = name;
    cost.*side += seconds;
  };
  for (const OpGroup& group : GroupOps(price)) add(group.name(), group.seconds);
  add("host, op by op", price.waterfall.dispatch);
  add("host, once a step", price.waterfall.fixed);
}

double BandNamed(const Pricing& pricing, const char* name) {
  const auto found = pricing.bands.find(name);
  return found == pricing.bands.end() ? 0 : found->second;
}

}  // namespace

PriceChange ComparePrices(const StepPrice& before, const StepPrice& after, const Pricing& pricing) {
  Costs costs;
  AddCosts(before, &CostChange::before, &costs);
  AddCosts(after, &CostChange::after, &costs);
  PriceChange change;
  change.before = before.seconds;
  change.after = after.seconds;
  for (auto& [name, cost] : costs) {
    change.moved += std::abs(cost.seconds());
    if (std::abs(cost.seconds()) >= kSmallest) change.ops.push_back(std::move(cost));
  }
  std::stable_sort(change.ops.begin(), change.ops.end(),
                   [](const CostChange& a, const CostChange& b) {
                     return std::abs(a.seconds()) > std::abs(b.seconds());
                   });
  const double mean = (before.seconds + after.seconds) / 2;
  change.own_reach = std::hypot(before.high - before.seconds, after.high - after.seconds);
  change.reach = change.own_reach;
  if (std::max(before.trust.band, after.trust.band) > BandNamed(pricing, "short_head"))
    return change;
  change.reach = std::min(change.own_reach, BandNamed(pricing, "paired_step") * mean +
                                                BandNamed(pricing, "paired_moved") * change.moved);
  change.paired = true;
  return change;
}

nlohmann::ordered_json ChangeJson(const PriceChange& change) {
  nlohmann::ordered_json json = {{"seconds", change.seconds()},
                                 {"seconds_low", change.low()},
                                 {"seconds_high", change.high()},
                                 {"moved_seconds", change.moved},
                                 {"share", change.seconds() / change.before},
                                 {"paired", change.paired},
                                 {"real", change.real()}};
  json["ops"] = nlohmann::ordered_json::array();
  for (const CostChange& op : change.ops) {
    json["ops"].push_back({{"name", op.name},
                           {"before_s", op.before},
                           {"after_s", op.after},
                           {"change_s", op.seconds()}});
  }
  return json;
}

std::string ChangeText(const PriceChange& change) {
  std::string text = fmt::format(
      "difference  {:+.1f} ms, {:+.1f} to {:+.1f} ms; {:+.1f} %: {}\n", 1e3 * change.seconds(),
      1e3 * change.low(), 1e3 * change.high(), 100 * change.seconds() / change.before,
      change.real() ? "outside what pairs of measured steps scatter by"
                    : "within what pairs of measured steps scatter by, so it may be nothing");
  text += fmt::format(
      "            {:.1f} ms of ops came or went; {}\n", 1e3 * change.moved,
      change.paired ? "the error of what both share cancels, theirs is left"
                    : "the interval takes both prices as independent: no pair was measured near");
  if (change.ops.empty()) return text;
  text += "\nops, the largest difference first          before      after     change\n";
  for (size_t i = 0; i < std::min(change.ops.size(), kRows); ++i) {
    const CostChange& op = change.ops[i];
    text += fmt::format("  {:<36}{:8.1f} ms{:8.1f} ms{:+8.1f} ms\n", op.name, 1e3 * op.before,
                        1e3 * op.after, 1e3 * op.seconds());
  }
  if (change.ops.size() > kRows)
    text += fmt::format("  and {} smaller (all with --json)\n", change.ops.size() - kRows);
  return text;
}

}  // namespace wt::price
