// A small model of golden_test.cc on our side: built from the recipe, started from the formula,
// stepped batch by batch exactly as make_golden.py does.
#pragma once

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "nn/executor.h"
#include "nn/gpt.h"
#include "train/recipe.h"
#include "train/update.h"

namespace wt::golden {

using Json = nlohmann::json;

// The formulas of golden/model.py and make_golden.py.
inline uint32_t Hash32(uint64_t index, uint64_t phase) {
  auto x = static_cast<uint32_t>((index + 1) * 0x9E3779B9u + phase * 0x85EBCA6Bu);
  x = (x ^ (x >> 16)) * 0x21F0AAADu;
  x = (x ^ (x >> 15)) * 0x735A2D97u;
  return x ^ (x >> 15);
}
inline float Formula(uint64_t index, uint64_t phase, double base, double scale) {
  return static_cast<float>(base + scale * (Hash32(index, phase) / 2147483648.0 - 1.0));
}
inline constexpr uint64_t kTokenPhase = 1001, kHolePhase = 1002, kProbePhase = 1003;

inline std::string GoldenPath(const std::string& file) {
  return std::string(WT_SOURCE_DIR) + "/tests/golden/" + file;
}

inline Json LoadGolden(const std::string& name) {
  auto text = ReadFile(GoldenPath(name + ".json"));
  WT_CHECK(text.ok(), "{}", text.status().message());
  return Json::parse(*text);
}

inline train::Recipe LoadSmallRecipe(const std::string& name, const Json& golden,
                                     std::vector<std::string> overrides) {
  auto recipe = train::LoadRecipe(GoldenPath(name + ".toml"), overrides);
  WT_CHECK(recipe.ok(), "{}", recipe.status().message());
  recipe->model.vocab_size = golden["vocab"];  // smaller than a tokenizer allows
  return *recipe;
}

// One small model that starts where the golden one started.
class Model {
 public:
  Model(const std::string& name, const Json& golden, std::vector<std::string> overrides = {},
        nn::Recompute recompute = nn::Recompute::kNone)
      : recipe_(LoadSmallRecipe(name, golden, std::move(overrides))) {
    const auto groups = [&](const nn::StepProgram& program) {
      return train::MakeGroups(recipe_.optimizer, program);
    };
    auto made =
        nn::MakeTrainProgram(recipe_.model, nn::BuildGpt, groups,
                             {recipe_.train.rows_per_core, recompute, recipe_.optimizer.grad_clip});
    WT_CHECK(made.ok(), "{}", made.status().message());
    loss_ = made->loss;
    gradient_norm_ = made->gradient_norm;
    executor_ = MakeExecutor(made->program);
    SetParameters(golden["parameters"]);
  }

  std::span<const float> Tensor(const std::string& name) {
    const nn::StoredTensor* tensor = store_.Find(name);
    WT_CHECK(tensor != nullptr, "no tensor {}", name);
    return {reinterpret_cast<const float*>(tensor->buffer.data()),
            static_cast<size_t>(nn::NumElements(tensor->spec.shape))};
  }
  std::span<const float> Gradient(const std::string& parameter) {
    for (const nn::Parameter& p : program().parameters) {
      if (program().value(p.value).name == parameter)
        return Tensor(program().value(p.gradient).name);
    }
    WT_CHECK(false, "no parameter {}", parameter);
  }

  // Loss and gradients of `count` micro-batches, the first being number `first`.
  double Gradients(int64_t first, int64_t count) {
    double loss = 0;
    executor_->Run(nn::Phase::kPrepare);
    for (int64_t i = 0; i < count; ++i) {
      SetBatch(*executor_, first + i);
      executor_->Run(nn::Phase::kForward);
      loss += *executor_->Data<float>(loss_) / static_cast<double>(count);
      executor_->Run(nn::Phase::kBackward);
    }
    return loss;
  }

  std::vector<float> Logits() {
    auto made = nn::MakeLogitsProgram(recipe_.model, nn::BuildGpt, recipe_.train.rows_per_core,
                                      recipe_.model.context);
    WT_CHECK(made.ok(), "{}", made.status().message());
    auto executor = MakeExecutor(made->program);
    SetBatch(*executor, 0);
    executor->Run(nn::Phase::kPrepare);
    executor->Run(nn::Phase::kForward);
    const float* data = executor->Data<float>(made->logits);
    return {data, data + nn::NumElements(made->program.value(made->logits).shape)};
  }

  struct StepResult {
    float loss, gradient_norm;
  };
  StepResult Step(int64_t step, const std::vector<double>& schedule) {
    const int64_t count = recipe_.train.tokens_per_step / recipe_.micro_batch_tokens();
    train::ScheduleValues values;
    values.lr_scale = schedule[0];
    values.muon_momentum = schedule[1];
    values.weight_decay_scale = schedule[2];
    const double loss = Gradients(step * count, count);
    train::SetHyperInputs(recipe_, values, step + 1, count, executor_.get());
    executor_->Run(nn::Phase::kOptimizer);
    return {static_cast<float>(loss), *executor_->Data<float>(gradient_norm_)};
  }

  const nn::StepProgram& program() const { return executor_->program(); }

 private:
  std::unique_ptr<nn::Executor> MakeExecutor(const nn::StepProgram& program) {
    auto made = nn::Executor::Create(program, &store_);
    WT_CHECK(made.ok(), "{}", made.status().message());
    return std::move(*made);
  }

  void SetParameters(const Json& specs) {
    WT_CHECK(specs.size() == program().parameters.size(), "{} parameters, {} expected",
             program().parameters.size(), specs.size());
    for (const Json& spec : specs) {
      const std::string name = spec["name"];
      const nn::ValueId id = program().FindValue(name);
      WT_CHECK(id != nn::kNoValue && program().value(id).shape == spec["shape"].get<nn::Shape>(),
               "{} is not the golden one", name);
      auto* data = reinterpret_cast<float*>(store_.Find(name)->buffer.data());
      for (size_t i = 0; i < Tensor(name).size(); ++i) {
        data[i] = Formula(i, spec["phase"], spec["base"], spec["scale"]);
      }
    }
  }

  void SetBatch(nn::Executor& executor, int64_t index) const {
    const int64_t rows = recipe_.train.rows_per_core, time = recipe_.model.context;
    const auto vocab = static_cast<uint32_t>(recipe_.model.vocab_size);
    const bool scored = executor.program().FindValue(nn::kTargetsInput) != nn::kNoValue;
    for (int64_t i = 0; i < rows * time; ++i) {
      const auto place = static_cast<uint64_t>((index * rows + i / time) * (time + 1) + i % time);
      executor.Data<int32_t>(nn::kTokensInput)[i] =
          static_cast<int32_t>(Hash32(place, kTokenPhase) % vocab);
      if (!scored) continue;
      const bool hole = Hash32(place + 1, kHolePhase) % 8 == 0;
      executor.Data<int32_t>(nn::kTargetsInput)[i] =
          hole ? -1 : static_cast<int32_t>(Hash32(place + 1, kTokenPhase) % vocab);
    }
    for (int64_t i = 0; scored && i < recipe_.model.predict_tokens; ++i) {
      executor.Data<float>(nn::kLossWeightsInput)[i] = std::ldexp(1.0f, -static_cast<int>(i));
    }
  }

  train::Recipe recipe_;
  nn::TensorStore store_;
  std::unique_ptr<nn::Executor> executor_;
  nn::ValueId loss_ = nn::kNoValue, gradient_norm_ = nn::kNoValue;
};

}  // namespace wt::golden
