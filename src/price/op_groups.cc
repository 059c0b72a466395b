#include "price/op_groups.h"

#include <map>

namespace wt::price {
namespace {

// "layer7.mlp" to "layers.mlp".
std::string PlaceOf(const std::string& scope) {
  if (!scope.starts_with("layer")) return scope;
  const size_t end = scope.find_first_not_of("0123456789", 5);
  return "layers" + (end == std::string::npos ? "" : scope.substr(end));
}

}  // namespace

std::vector<OpGroup> GroupOps(const StepPrice& price) {
  std::map<std::pair<std::string, std::string>, OpGroup> groups;
  for (const OpPrice& op : price.ops) {
    OpGroup& group = groups[{op.op, PlaceOf(op.scope)}];
    group.op = op.op;
    group.place = PlaceOf(op.scope);
    group.seconds += op.seconds();
    group.products += op.times * op.each.products_s;
    group.engines += op.times * op.each.engines_s;
    group.memory += op.seconds() - op.times * (op.each.products_s + op.each.engines_s);
    group.flops += op.times * op.each.flops;
    group.bytes += op.times * op.each.bytes;
    group.waste_s += op.times * op.each.products_s * op.waste;
  }
  std::vector<OpGroup> order;
  for (auto& [key, group] : groups) order.push_back(std::move(group));
  std::stable_sort(order.begin(), order.end(),
                   [](const OpGroup& a, const OpGroup& b) { return a.seconds > b.seconds; });
  return order;
}

}  // namespace wt::price
