#include "price/demand.h"

#include <algorithm>
#include <cmath>

#include "nn/op.h"

namespace wt::price {
namespace {

constexpr double kArraySide = 128;

double PassCount(const std::vector<double>& passes, size_t operand) {
  if (passes.empty()) return 1;
  return passes[std::min(operand, passes.size() - 1)];
}

double InnerBytes(const nn::Work& work, const Lowering& rule, const StepSetup& setup) {
  const bool fused = setup.fused_loss && rule.inner_bytes_fused >= 0;
  return work.inner_elements * (fused ? rule.inner_bytes_fused : rule.inner_bytes);
}

double TimesOf(const nn::Node& node, const Lowering& rule, const StepSetup& setup) {
  const bool once = node.phase == nn::Phase::kPrepare || node.phase == nn::Phase::kOptimizer;
  return once && !rule.every_micro_batch ? 1 : static_cast<double>(setup.micro_batches);
}

// Whether the node works on bf16 tensors cut into heads that the tool chain moves slowly.
bool HasShortHeads(const nn::StepProgram& program, const nn::Node& node, const Lowering& rule,
                   const StepSetup& setup, const Constants& constants) {
  if (!rule.head_shaped) return false;
  return program.value(node.inputs[0]).dtype == DType::kBF16 &&
         static_cast<double>(node.attrs.Int("head_dim")) <= constants.short_head &&
         static_cast<double>(setup.toolchain.opt_level) >= constants.short_head_opt_level;
}

// Share of the array that a product with the node's weight fills: both its extents lie on the
// array's sides.
double ArrayFill(const nn::StepProgram& program, const nn::Node& node) {
  const auto matrix = [&](nn::ValueId id) {
    return id != nn::kNoValue && program.value(id).shape.size() == 2 &&
           IsFloat(program.value(id).dtype);
  };
  auto found = std::find_if(node.inputs.begin(), node.inputs.end(), matrix);
  if (found == node.inputs.end()) {
    found = std::find_if(node.outputs.begin(), node.outputs.end(), matrix);
    if (found == node.outputs.end()) return 1;
  }
  double fill = 1;
  for (int64_t extent : program.value(*found).shape) {
    const auto size = static_cast<double>(extent);
    fill *= size / (std::ceil(size / kArraySide) * kArraySide);
  }
  return fill;
}

void CountProducts(const nn::StepProgram& program, const nn::Node& node, const nn::Work& work,
                   const Lowering& rule, const StepSetup& setup, Demand* demand) {
  demand->model_flops = demand->unmasked_flops = work.matmul_flops;
  demand->fp32_products =
      work.matmul_dtype == DType::kF32 && setup.toolchain.auto_cast == AutoCast::kNone;
  if (work.matmul_flops == 0 || node.phase == nn::Phase::kOptimizer) {
    demand->padded_flops = demand->unmasked_flops;
    return;
  }
  double fill = 1;
  if (rule.score_products > 0) {
    const auto head_dim = static_cast<double>(node.attrs.Int("head_dim"));
    demand->unmasked_flops = 2 * rule.score_products * work.inner_elements * head_dim;
    fill = std::min(1.0, head_dim / kArraySide);
  } else {
    fill = ArrayFill(program, node);
  }
  demand->padded_flops = demand->unmasked_flops / fill;
}

// Rows that a value embedding looks up. The token embedding's are in the fixed time of every step.
double GatheredRows(const nn::StepProgram& program, const nn::Node& node, const Lowering& rule) {
  if (!rule.gathers) return 0;
  for (const nn::Parameter& parameter : program.parameters) {
    if (parameter.value == node.inputs[1] && parameter.kind == nn::ParameterKind::kValueEmbedding) {
      return static_cast<double>(nn::NumElements(program.value(node.inputs[0]).shape));
    }
  }
  return 0;
}

Demand CountNode(const nn::StepProgram& program, size_t index, const StepSetup& setup,
                 const Pricing& pricing) {
  const nn::Node& node = program.nodes[index];
  const nn::Work work = node.op->work(nn::OpCall(program, node.attrs, node.inputs, node.outputs));
  const Lowering& rule = pricing.LoweringOf(node.op->name);
  Demand demand;
  demand.node = index;
  demand.rule = &rule;
  demand.times = TimesOf(node, rule, setup);
  demand.update = node.phase == nn::Phase::kOptimizer;
  demand.gathered_rows = GatheredRows(program, node, rule);
  CountProducts(program, node, work, rule, setup, &demand);
  double passes = 0;
  for (const Pass& pass : PassesOf(program, node, rule)) passes += pass.bytes;
  demand.bytes = passes + InnerBytes(work, rule, setup);
  if (HasShortHeads(program, node, rule, setup, pricing.constants)) demand.head_bytes = passes;
  return demand;
}

int64_t ScalarTensors(const nn::StepProgram& program) {
  int64_t count = 0;
  for (const nn::Parameter& parameter : program.parameters) {
    const nn::Value& value = program.value(parameter.value);
    if (parameter.kind == nn::ParameterKind::kScalar && value.shape.size() == 1) {
      count += nn::NumElements(value.shape);
    }
  }
  return count;
}

}  // namespace

std::vector<Pass> PassesOf(const nn::StepProgram& program, const nn::Node& node,
                           const Lowering& rule) {
  const nn::OpCall call(program, node.attrs, node.inputs, node.outputs);
  const nn::Work work = node.op->work(call);
  std::vector<Pass> passes;
  for (size_t i = 0; i < work.read_bytes.size(); ++i) {
    const double count = PassCount(rule.reads, i);
    if (!call.has_input(i) || count == 0) continue;
    passes.push_back({node.inputs[i], count, count * static_cast<double>(work.read_bytes[i])});
  }
  const bool joins = rule.join_input >= 0 && call.has_input(static_cast<size_t>(rule.join_input));
  for (size_t i = 0; i < work.written_bytes.size(); ++i) {
    const double count = PassCount(rule.writes, i) + (joins && i == 0 ? rule.join_passes : 0);
    if (count == 0) continue;
    passes.push_back({node.outputs[i], count, count * static_cast<double>(work.written_bytes[i])});
  }
  return passes;
}

StepDemand CountDemand(const nn::StepProgram& program, const StepSetup& setup,
                       const Pricing& pricing) {
  StepDemand step;
  step.nodes.reserve(program.nodes.size());
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    step.nodes.push_back(CountNode(program, i, setup, pricing));
    const Demand& demand = step.nodes.back();
    if (std::string(program.nodes[i].op->name) == "muon") ++step.muon_matrices;
    if (!demand.update) step.model_flops += demand.times * demand.model_flops;
  }
  step.scalar_tensors = ScalarTensors(program);
  return step;
}

}  // namespace wt::price
