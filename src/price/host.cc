#include "price/host.h"

namespace wt::price {
namespace {

constexpr double kEagerProcesses = 8;  // that eager_op_s is of

double ShareLeft(const StepSetup& setup, const Constants& c) {
  double share = setup.dispatch == Dispatch::kAsync ? c.async_share : 1;
  if (setup.sharding == Sharding::kZero1) share *= c.zero1_share;
  if (setup.sharding == Sharding::kZero2) share *= c.zero2_share;
  if (setup.accumulate == Accumulate::kGraph) share *= c.graph_share;
  return share;
}

double EagerOps(const StepDemand& demand) {
  double ops = 0;
  for (const Demand& d : demand.nodes) ops += d.times * d.rule->launches;
  return ops;
}

}  // namespace

HostTime PriceHost(const StepDemand& demand, const StepSetup& setup, const Constants& c,
                   double device_s) {
  if (setup.toolchain.mode == Mode::kEager) {
    // Processes share the host's processors.
    const double pace = static_cast<double>(setup.machine.ranks) / kEagerProcesses;
    const double host = EagerOps(demand) * c.eager_op_s * pace;
    return {0, std::max(0.0, host - device_s)};
  }
  if (setup.dispatch == Dispatch::kCompiled) return {c.compiled_update_s, 0};
  const double share = ShareLeft(setup, c);
  const auto scalars =
      static_cast<double>(setup.scalars == Scalars::kEach ? demand.scalar_tensors : 0);
  const double ops =
      c.matrix_host_s * static_cast<double>(demand.muon_matrices) + c.scalar_host_s * scalars;
  return {share * c.step_host_s, share * ops};
}

}  // namespace wt::price
