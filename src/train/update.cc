#include "train/update.h"

#include <cmath>

namespace wt::train {
namespace {

using nn::HyperIndex;
using nn::ParameterKind;

constexpr ParameterKind kKinds[] = {ParameterKind::kMatrix, ParameterKind::kEmbedding,
                                    ParameterKind::kValueEmbedding, ParameterKind::kHead,
                                    ParameterKind::kScalar};

const AdamGroup& AdamGroupOf(const OptimizerConfig& config, ParameterKind kind) {
  switch (kind) {
    case ParameterKind::kEmbedding: return config.embedding;
    case ParameterKind::kValueEmbedding: return config.value_embedding;
    case ParameterKind::kHead: return config.head;
    case ParameterKind::kScalar: return config.scalar;
    case ParameterKind::kMatrix: break;
  }
  return config.matrix_adamw;
}

bool UsesMuon(const OptimizerConfig& config, ParameterKind kind) {
  return kind == ParameterKind::kMatrix && config.matrix == MatrixOptimizer::kMuon;
}

bool ScalesWithWidth(ParameterKind kind) {
  return kind == ParameterKind::kEmbedding || kind == ParameterKind::kValueEmbedding ||
         kind == ParameterKind::kHead;
}

struct Hypers {
  double lr, beta1, beta2, weight_decay;
};

Hypers HypersOf(const Recipe& recipe, ParameterKind kind, const ScheduleValues& values) {
  const OptimizerConfig& config = recipe.optimizer;
  if (UsesMuon(config, kind)) {
    return {config.muon_lr * values.lr_scale, values.muon_momentum, config.muon_beta2,
            config.muon_weight_decay * values.weight_decay_scale};
  }
  const AdamGroup& group = AdamGroupOf(config, kind);
  const bool scaled = config.lr_width_scaling && ScalesWithWidth(kind);
  const double width_scale = scaled ? std::pow(static_cast<double>(recipe.model.width) / 768.0, -0.5) : 1.0;
  return {group.lr * width_scale * values.lr_scale, group.betas[0], group.betas[1],
          group.weight_decay * values.weight_decay_scale};
}

}  // namespace

std::vector<nn::OptimizerGroup> MakeGroups(const OptimizerConfig& config, const nn::StepProgram& program) {
  std::vector<nn::OptimizerGroup> groups;
  for (ParameterKind kind : kKinds) {
    nn::OptimizerGroup group;
    group.name = nn::ParameterKindName(kind);
    group.muon = UsesMuon(config, kind);
    group.muon_rule = {static_cast<int>(config.muon_steps), config.muon_nesterov,
                       config.muon_row_equilibrate,         config.muon_renormalise,
                       config.muon_normuon,                 config.muon_cautious};
    group.adam_eps = config.adam_eps;
    for (const nn::Parameter& parameter : program.parameters) {
      if (parameter.kind == kind) group.parameters.push_back(program.value(parameter.value).name);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

void SetHyperInputs(const Recipe& recipe, const ScheduleValues& values, int64_t step, int64_t micro_batches,
                    nn::Executor* executor) {
  *executor->Data<float>(nn::kMicroBatchesInput) = static_cast<float>(micro_batches);
  for (ParameterKind kind : kKinds) {
    const std::string name = nn::HyperInputName(nn::ParameterKindName(kind));
    const nn::ValueId id = executor->program().FindValue(name);
    if (id == nn::kNoValue) continue;  // the model has no such parameter
    const Hypers hypers = HypersOf(recipe, kind, values);
    float* out = executor->Data<float>(id);
    out[static_cast<size_t>(HyperIndex::kLr)] = static_cast<float>(hypers.lr);
    out[static_cast<size_t>(HyperIndex::kBeta1)] = static_cast<float>(hypers.beta1);
    out[static_cast<size_t>(HyperIndex::kBeta2)] = static_cast<float>(hypers.beta2);
    out[static_cast<size_t>(HyperIndex::kWeightDecay)] = static_cast<float>(hypers.weight_decay);
    out[static_cast<size_t>(HyperIndex::kStep)] = static_cast<float>(step);
  }
}

}  // namespace wt::train
