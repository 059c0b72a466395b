// Helpers of price's tests: the program of one rank's step for a shape, without recipes.
#pragma once

#include "nn/gpt.h"
#include "price/step_price.h"

namespace wt::price {

// The measured team's model of 23 Sep: 9 x 1024, four heads of 256 over one key and value head.
inline nn::ModelConfig WideConfig() {
  nn::ModelConfig config;
  config.depth = 9;
  config.width = 1024;
  config.head_dim = 256;
  config.kv_heads = 1;
  return config;
}

inline StepSetup WideSetup() {
  StepSetup setup;
  setup.sharding = Sharding::kMuon;
  setup.scalars = Scalars::kStacked;
  setup.fused_loss = true;
  setup.tokens_per_step = 262144;
  setup.micro_batches = 4;
  return setup;
}

inline nn::StepProgram MakeProgram(const nn::ModelConfig& config, int64_t rows = 8) {
  const auto groups = [](const nn::StepProgram& program) {
    nn::OptimizerGroup matrices, rest;
    matrices.name = "matrix";
    matrices.muon = true;
    rest.name = "rest";
    for (const nn::Parameter& parameter : program.parameters) {
      auto& group = parameter.kind == nn::ParameterKind::kMatrix ? matrices : rest;
      group.parameters.push_back(program.value(parameter.value).name);
    }
    return std::vector<nn::OptimizerGroup>{matrices, rest};
  };
  nn::TrainOptions options;
  options.rows = rows;
  auto made = nn::MakeTrainProgram(config, nn::BuildGpt, groups, options);
  WT_CHECK(made.ok(), "{}", made.status().message());
  return std::move(made->program);
}

inline const Pricing& Compiled() {
  static const Pricing pricing = [] {
    auto loaded = LoadPricing("compiled");
    WT_CHECK(loaded.ok(), "{}", loaded.status().message());
    return std::move(*loaded);
  }();
  return pricing;
}

inline const chip::Machine& Trn2() {
  static const auto machine = [] {
    auto loaded = chip::Machine::Load("trn2");
    WT_CHECK(loaded.ok(), "{}", loaded.status().message());
    return *loaded;
  }();
  return *machine;
}

inline StepPrice PriceOf(const nn::ModelConfig& config, const StepSetup& setup) {
  auto price = PriceStep(MakeProgram(config), setup, Compiled(), Trn2());
  WT_CHECK(price.ok(), "{}", price.status().message());
  return std::move(*price);
}

}  // namespace wt::price
