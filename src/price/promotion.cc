#include "price/promotion.h"

#include <set>

#include "nn/op.h"

namespace wt::price {
namespace {

// Values narrower than this many channels are statistics or gates, which belong in fp32.
constexpr int64_t kStreamChannels = 64;

// Tokens of a micro-batch: the largest whole-number input.
int64_t TokensOf(const nn::StepProgram& program) {
  int64_t tokens = 0;
  for (const nn::Value& value : program.values) {
    if (value.role != nn::Role::kInput || !IsInteger(value.dtype)) continue;
    tokens = std::max(tokens, nn::NumElements(value.shape));
  }
  return tokens;
}

bool IsWideFp32(const nn::Value& value, int64_t tokens) {
  return value.role == nn::Role::kActivation && value.dtype == DType::kF32 &&
         nn::NumElements(value.shape) >= kStreamChannels * tokens;
}

// Share of a node's bytes that are of wide fp32 activations.
double WideShare(const nn::StepProgram& program, const nn::Node& node, int64_t tokens) {
  const nn::OpCall call(program, node.attrs, node.inputs, node.outputs);
  const nn::Work work = node.op->work(call);
  double wide = 0;
  for (size_t i = 0; i < work.read_bytes.size(); ++i) {
    if (call.has_input(i) && IsWideFp32(call.input(i), tokens)) {
      wide += static_cast<double>(work.read_bytes[i]);
    }
  }
  for (size_t i = 0; i < work.written_bytes.size(); ++i) {
    if (IsWideFp32(call.output(i), tokens)) wide += static_cast<double>(work.written_bytes[i]);
  }
  return work.bytes() > 0 ? wide / static_cast<double>(work.bytes()) : 0;
}

}  // namespace

Promotion FindPromotion(const nn::StepProgram& program, std::span<const OpPrice> ops,
                        const Constants& constants) {
  Promotion found;
  std::set<nn::ValueId> tensors;
  const int64_t tokens = TokensOf(program);
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const nn::Node& node = program.nodes[i];
    if (node.phase == nn::Phase::kOptimizer) continue;
    const OpPrice& op = ops[i];
    const double wide = WideShare(program, node, tokens);
    const bool products = op.fp32_products;
    if ((products || wide > 0) && found.first.empty()) {
      found.first = fmt::format("{} ({})", node.scope, node.op->name);
    }
    for (nn::ValueId id : node.outputs) {
      if (IsWideFp32(program.value(id), tokens)) tensors.insert(id);
    }
    found.traffic_s += op.times * (op.each.memory_s + op.each.short_heads_s) * wide / 2;
    if (!products) continue;
    ++found.products;
    found.products_s += op.times * op.each.products_s * (1 - 1 / constants.fp32_slowdown);
  }
  found.tensors = static_cast<int64_t>(tensors.size());
  return found;
}

std::string PromotionText(const Promotion& promotion, double step_s) {
  if (!promotion.any()) return "";
  return fmt::format(
      "fp32: {} products and {} streams, from {} on; in bf16 the step would be {:.3f} s ({:.0f} %) "
      "shorter, {:.3f} of products and {:.3f} of traffic",
      promotion.products, promotion.tensors, promotion.first, promotion.seconds(),
      100 * promotion.seconds() / step_s, promotion.products_s, promotion.traffic_s);
}

}  // namespace wt::price
