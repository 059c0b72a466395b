// The op table: every op there is, in one list.
#include <algorithm>
#include <array>

#include "nn/ops/ops.h"

namespace wt::nn {
namespace {

constexpr std::array kOps = {
    &ops::kCast,
    &ops::kZero,
    &ops::kAdd,
    &ops::kMix,
    &ops::kMixGrad,
    &ops::kSliceColumns,
    &ops::kSliceColumnsGrad,
    &ops::kEmbedding,
    &ops::kEmbeddingGrad,
    &ops::kLinear,
    &ops::kLinearDgrad,
    &ops::kLinearWgrad,
    &ops::kRmsNorm,
    &ops::kRmsNormGrad,
    &ops::kRopeNorm,
    &ops::kRopeNormGrad,
    &ops::kAttention,
    &ops::kAttentionGrad,
    &ops::kActivation,
    &ops::kActivationGrad,
    &ops::kSwiglu,
    &ops::kSwigluGrad,
    &ops::kCausalConv,
    &ops::kCausalConvGrad,
    &ops::kSmear,
    &ops::kSmearGrad,
    &ops::kValueGate,
    &ops::kValueGateGrad,
    &ops::kHeadLoss,
    &ops::kHeadLossTrain,
    &ops::kLogits,
    &ops::kRopeNormCached,
    &ops::kAttentionCached,
    &ops::kCausalConvCached,
    &ops::kSmearCached,
    &ops::kTakeRows,
    &ops::kGradientScale,
    &ops::kAdamW,
    &ops::kMuon,
    &ops::kEma,
    &ops::kBlend,
};

}  // namespace

const OpDef* FindOp(std::string_view name) {
  const auto found =
      std::find_if(kOps.begin(), kOps.end(), [&](const OpDef* op) { return name == op->name; });
  return found == kOps.end() ? nullptr : *found;
}

std::span<const OpDef* const> AllOps() { return kOps; }

}  // namespace wt::nn
