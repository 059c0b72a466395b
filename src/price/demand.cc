#include "price/demand.h"

#include "nn/op.h"

namespace wt::price {
namespace {

constexpr double kArrayRows = 128;

double PassCount(const std::vector<double>& passes, size_t operand) {
  if (passes.empty()) return 1;
  return passes[std::min(operand, passes.size() - 1)];
}

double InnerBytes(const nn::Work& work, const Lowering& rule, const Setup& setup) {
  const bool fused = setup.fused_loss && rule.inner_bytes_fused >= 0;
  return work.inner_elements * (fused ? rule.inner_bytes_fused : rule.inner_bytes);
}

double TimesOf(const nn::Node& node, const Lowering& rule, const Setup& setup) {
  const bool once = node.phase == nn::Phase::kPrepare || node.phase == nn::Phase::kOptimizer;
  return once && !rule.every_micro_batch ? 1 : static_cast<double>(setup.micro_batches);
}

bool HasShortHeads(const nn::Node& node, const Lowering& rule, const Setup& setup,
                   const Constants& constants, DType dtype) {
  if (!rule.head_shaped || !node.attrs.Has("head_dim")) return false;
  return dtype == DType::kBF16 &&
         static_cast<double>(node.attrs.Int("head_dim")) <= constants.short_head &&
         static_cast<double>(setup.toolchain.opt_level) >= constants.short_head_opt_level;
}

void CountProducts(const nn::Node& node, const nn::Work& work, const Lowering& rule,
                   Demand* demand) {
  demand->model_flops = demand->unmasked_flops = work.matmul_flops;
  demand->fp32_products = work.matmul_dtype == DType::kF32;
  double array_rows = kArrayRows;
  if (rule.score_products > 0) {
    const auto head_dim = static_cast<double>(node.attrs.Int("head_dim"));
    demand->unmasked_flops = 2 * rule.score_products * work.inner_elements * head_dim;
    array_rows = std::min(array_rows, head_dim);
  }
  demand->padded_flops = demand->unmasked_flops * kArrayRows / array_rows;
}

Demand CountNode(const nn::StepProgram& program, size_t index, const Setup& setup,
                 const Pricing& pricing, const std::vector<bool>& head_values) {
  const nn::Node& node = program.nodes[index];
  const nn::OpCall call(program, node.attrs, node.inputs, node.outputs);
  const nn::Work work = node.op->work(call);
  const Lowering& rule = pricing.LoweringOf(node.op->name);
  Demand demand;
  demand.node = index;
  demand.rule = &rule;
  demand.times = TimesOf(node, rule, setup);
  demand.update = node.phase == nn::Phase::kOptimizer;
  demand.vector_flops = work.vector_flops;
  CountProducts(node, work, rule, &demand);
  demand.bytes = InnerBytes(work, rule, setup);
  for (const Pass& pass : PassesOf(program, node, rule)) {
    demand.bytes += pass.bytes;
    if (head_values[static_cast<size_t>(pass.value)]) demand.head_value_bytes += pass.bytes;
    if (rule.head_shaped &&
        HasShortHeads(node, rule, setup, pricing.constants, program.value(node.inputs[0]).dtype))
      demand.head_bytes += pass.bytes;
  }
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

// Rows that a value embedding looks up: forward, with the scatter-add of its gradient.
double GatheredRows(const nn::StepProgram& program, const nn::Node& node) {
  if (std::string(node.op->name) != "embedding") return 0;
  for (const nn::Parameter& parameter : program.parameters) {
    if (parameter.value == node.inputs[1] && parameter.kind == nn::ParameterKind::kValueEmbedding) {
      return static_cast<double>(nn::NumElements(program.value(node.inputs[0]).shape));
    }
  }
  return 0;
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

StepDemand CountDemand(const nn::StepProgram& program, const Setup& setup, const Pricing& pricing) {
  StepDemand step;
  std::vector<bool> head_values(program.values.size(), false);
  for (const auto& node : program.nodes) {
    if (!HasShortHeads(node, pricing.LoweringOf(node.op->name), setup, pricing.constants,
                       DType::kBF16))
      continue;
    for (auto id : node.inputs)
      if (id >= 0 && program.value(id).dtype == DType::kBF16)
        head_values[static_cast<size_t>(id)] = true;
    for (auto id : node.outputs)
      if (program.value(id).dtype == DType::kBF16) head_values[static_cast<size_t>(id)] = true;
  }
  step.nodes.reserve(program.nodes.size());
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    step.nodes.push_back(CountNode(program, i, setup, pricing, head_values));
    Demand& demand = step.nodes.back();
    demand.gathered_rows = GatheredRows(program, program.nodes[i]);
    if (std::string(program.nodes[i].op->name) == "muon") ++step.muon_matrices;
    if (!demand.update) step.model_flops += demand.times * demand.model_flops;
  }
  step.scalar_tensors = ScalarTensors(program);
  return step;
}

}  // namespace wt::price
