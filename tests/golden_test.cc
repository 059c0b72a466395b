// The whole step - forward, backward, AdamW, Muon - against PyTorch in float64:
// golden/make_golden.py builds the same small models from the same recipes, starts them from the
// same formula, and writes what it gets to golden/NAME.json. Nothing of PyTorch is needed to run
// this.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "nn/executor.h"
#include "nn/gpt.h"
#include "train/recipe.h"
#include "train/update.h"

namespace wt {
namespace {

using Json = nlohmann::json;

// The formulas of golden/model.py and make_golden.py.
uint32_t Hash32(uint64_t index, uint64_t phase) {
  auto x = static_cast<uint32_t>((index + 1) * 0x9E3779B9u + phase * 0x85EBCA6Bu);
  x = (x ^ (x >> 16)) * 0x21F0AAADu;
  x = (x ^ (x >> 15)) * 0x735A2D97u;
  return x ^ (x >> 15);
}
float Formula(uint64_t index, uint64_t phase, double base, double scale) {
  return static_cast<float>(base + scale * (Hash32(index, phase) / 2147483648.0 - 1.0));
}
constexpr uint64_t kTokenPhase = 1001, kHolePhase = 1002, kProbePhase = 1003;

// Largest difference as a share of the largest expected magnitude.
struct Difference {
  double worst = 0;
  size_t at = 0;
};
Difference Compare(std::span<const float> got, const std::vector<double>& want) {
  double size = 1e-30;
  for (double w : want) size = std::max(size, std::abs(w));
  Difference d;
  for (size_t i = 0; i < want.size(); ++i) {
    const double off = std::abs(got[i] - want[i]) / size;
    if (!(off <= d.worst)) d = {off, i};  // also takes NaN
  }
  return d;
}
void ExpectNear(const std::string& name, std::span<const float> got, const Json& expected,
                double tolerance) {
  const auto want = expected.get<std::vector<double>>();
  ASSERT_EQ(got.size(), want.size()) << name;
  const Difference d = Compare(got, want);
  EXPECT_TRUE(d.worst <= tolerance)
      << name << ": largest difference " << d.worst << " of the largest value, at element " << d.at
      << ": " << got[d.at] << ", expected " << want[d.at];
}

std::string GoldenPath(const std::string& file) {
  return std::string(WT_SOURCE_DIR) + "/tests/golden/" + file;
}

Json LoadGolden(const std::string& name) {
  auto text = ReadFile(GoldenPath(name + ".json"));
  WT_CHECK(text.ok(), "{}", text.status().message());
  return Json::parse(*text);
}

train::Recipe LoadSmallRecipe(const std::string& name, const Json& golden,
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

// Sum, Euclidean norm and product with fixed noise, as make_golden.py's summary().
std::vector<double> Summary(std::span<const float> x) {
  double sum = 0, squares = 0, noise = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += x[i];
    squares += static_cast<double>(x[i]) * x[i];
    noise += static_cast<double>(x[i]) * Formula(i, kProbePhase, 0, 1);
  }
  return {sum, std::sqrt(squares), noise};
}

class GoldenTest : public testing::TestWithParam<const char*> {
 protected:
  std::string name() const { return GetParam(); }
  Json golden_ = LoadGolden(GetParam());

  void ExpectGradients(Model& model, double tolerance) {
    EXPECT_NEAR(model.Gradients(0, 1), golden_["loss"].get<double>(), tolerance);
    for (const auto& [parameter, want] : golden_["gradients"].items()) {
      ExpectNear("gradient of " + parameter, model.Gradient(parameter), want, tolerance);
    }
  }

  void ExpectRun(size_t which, double tolerance) {
    const Json& run = golden_["runs"][which];
    Model model(name(), golden_, {"optimizer.matrix=" + run["matrix"].get<std::string>()});
    std::vector<float> losses, norms;
    for (size_t step = 0; step < run["schedule"].size(); ++step) {
      const auto result = model.Step(static_cast<int64_t>(step), run["schedule"][step]);
      losses.push_back(result.loss);
      norms.push_back(result.gradient_norm);
    }
    ExpectNear("losses", losses, run["losses"], tolerance);
    ExpectNear("gradient norms", norms, run["gradient_norms"], tolerance);
    for (const auto& [parameter, want] : run["final"].items()) {
      const std::vector<double> got = Summary(model.Tensor(parameter));
      // A sum of n elements of either sign may be off by as much as the norm.
      const double scale =
          want[1].get<double>() * std::sqrt(static_cast<double>(model.Tensor(parameter).size()));
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(got[i], want[i].get<double>(),
                    tolerance * (i == 1 ? want[1].get<double>() : scale))
            << parameter << " after the steps: "
            << (i == 0   ? "sum"
                : i == 1 ? "norm"
                         : "probe");
      }
    }
  }
};

TEST_P(GoldenTest, Logits) {
  ExpectNear("logits", Model(name(), golden_).Logits(), golden_["logits"], 2e-6);
}

TEST_P(GoldenTest, LossAndGradients) {
  Model model(name(), golden_);
  ExpectGradients(model, 1e-5);
}

TEST_P(GoldenTest, LossAndGradientsWithRecomputation) {
  Model model(name(), golden_, {}, nn::Recompute::kBlock);
  ExpectGradients(model, 1e-5);
}

TEST_P(GoldenTest, TenStepsOfAdamW) { ExpectRun(0, 1e-5); }
TEST_P(GoldenTest, TenStepsOfMuon) { ExpectRun(1, 1e-4); }

INSTANTIATE_TEST_SUITE_P(Recipes, GoldenTest, testing::Values("baseline", "features", "plain"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace wt
