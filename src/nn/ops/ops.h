// The rows of the op table, one declaration each; op_table.cc lists them. Definitions stand in this
// folder's .cc files, grouped by what they do.
#pragma once

#include "nn/differentiate.h"
#include "nn/op.h"

namespace wt::nn::ops {

extern const OpDef kCast, kZero, kAdd, kMix, kMixGrad, kSliceColumns, kSliceColumnsGrad;
extern const OpDef kEmbedding, kEmbeddingGrad;
extern const OpDef kLinear, kLinearDgrad, kLinearWgrad;
extern const OpDef kRmsNorm, kRmsNormGrad;
extern const OpDef kRopeNorm, kRopeNormGrad;
extern const OpDef kAttention, kAttentionGrad;
extern const OpDef kActivation, kActivationGrad, kSwiglu, kSwigluGrad;
extern const OpDef kCausalConv, kCausalConvGrad;
extern const OpDef kSmear, kSmearGrad;
extern const OpDef kValueGate, kValueGateGrad;
extern const OpDef kHeadLoss, kHeadLossTrain, kLogits;
extern const OpDef kRopeNormCached, kAttentionCached, kCausalConvCached, kSmearCached, kTakeRows;
extern const OpDef kGradientScale, kAdamW, kMuon, kEma, kBlend;

// Shape rules that many ops share.
InferResult SameAsInput0(const OpCall& call);
inline InferResult InferNothing(const OpCall&) { return std::vector<ValueSpec>{}; }

// Elements of the first operand.
inline int64_t Count(const RunContext& c) { return NumElements(c.input(0).shape); }

}  // namespace wt::nn::ops
