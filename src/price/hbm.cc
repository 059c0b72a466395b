#include "price/hbm.h"

#include "nn/memory_plan.h"
#include "nn/op.h"

namespace wt::price {
namespace {

// Ranks over which values of this role are split.
double ShardsOf(nn::Role role, const StepSetup& setup) {
  const auto ranks = static_cast<double>(setup.machine.ranks);
  const bool zero1 = setup.sharding == Sharding::kZero1 || setup.sharding == Sharding::kZero2;
  if (role == nn::Role::kState) return zero1 ? ranks : 1;
  if (role == nn::Role::kGradient) return setup.sharding == Sharding::kZero2 ? ranks : 1;
  return 1;
}

void AddPersistent(const nn::StepProgram& program, const StepSetup& setup, HbmUse* use) {
  for (const nn::Value& value : program.values) {
    const double bytes = static_cast<double>(value.bytes()) / ShardsOf(value.role, setup);
    if (value.role == nn::Role::kParameter) use->parameters += bytes;
    if (value.role == nn::Role::kGradient) use->gradients += bytes;
    if (value.role == nn::Role::kState) use->state += bytes;
    if (value.role == nn::Role::kCache) use->caches += bytes;
  }
}

// The largest intermediate that one op keeps for itself: fp32 logits, or a chunk of them.
double LargestInner(const nn::StepProgram& program, const StepSetup& setup) {
  constexpr double kChunks = 8;  // of the fused head
  constexpr double kCopies = 2;  // logits and their gradient
  double largest = 0;
  for (const nn::Node& node : program.nodes) {
    if (node.attrs.Has("head_dim")) continue;  // scores stay on the chip
    const nn::OpCall call(program, node.attrs, node.inputs, node.outputs);
    largest = std::max(largest, node.op->work(call).inner_elements);
  }
  return kCopies * 4 * largest / (setup.fused_loss ? kChunks : 1);
}

}  // namespace

HbmUse CountHbm(const nn::StepProgram& program, const StepSetup& setup,
                const chip::Machine& machine) {
  HbmUse use;
  AddPersistent(program, setup, &use);
  const nn::MemoryPlan plan = nn::PlanMemory(program);
  use.activations = static_cast<double>(plan.arena_bytes);
  use.inner = LargestInner(program, setup);
  use.peak = use.parameters + use.gradients + use.state + use.caches + use.activations + use.inner;
  use.capacity =
      static_cast<double>(machine.hbm_bytes) / 2 * static_cast<double>(setup.machine.lnc);
  if (plan.peak_node < program.nodes.size()) {
    const nn::Node& node = program.nodes[plan.peak_node];
    use.peak_at =
        fmt::format("{} of {} ({})", nn::PhaseName(node.phase), node.scope, node.op->name);
  }
  return use;
}

}  // namespace wt::price
