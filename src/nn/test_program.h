// Helpers of nn's tests: a tiny trainable program around one op, run on the host.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "nn/differentiate.h"
#include "nn/executor.h"
#include "nn/gpt.h"

namespace wt::nn {

// A program's executor with its own tensors, and the loss as a function of its parameters.
class Harness {
 public:
  Harness(StepProgram program, uint64_t seed) {
    auto made = Executor::Create(std::move(program), &store_);
    WT_CHECK(made.ok(), "{}", made.status().message());
    executor_ = std::move(*made);
    store_.Initialize(executor_->program(), seed);
  }

  Executor& executor() { return *executor_; }
  TensorStore& store() { return store_; }

  float* Tensor(const std::string& name) {
    return reinterpret_cast<float*>(store_.Find(name)->buffer.data());
  }
  int64_t Size(const std::string& name) { return NumElements(store_.Find(name)->spec.shape); }

  // Random tokens and targets, unit weight for the first target and halves after it.
  void FillInputs(int64_t vocab, uint64_t seed) {
    Philox random(seed, 99);
    for (const char* name : {kTokensInput, kTargetsInput}) {
      const ValueId id = executor_->program().FindValue(name);
      if (id == kNoValue) continue;
      const int64_t n = NumElements(executor_->program().value(id).shape);
      for (int64_t i = 0; i < n; ++i) {
        executor_->Data<int32_t>(id)[i] =
            static_cast<int32_t>(random.NextBelow(static_cast<uint64_t>(vocab)));
      }
    }
    const ValueId weights = executor_->program().FindValue(kLossWeightsInput);
    if (weights == kNoValue) return;
    const int64_t n = NumElements(executor_->program().value(weights).shape);
    for (int64_t i = 0; i < n; ++i) {
      executor_->Data<float>(weights)[i] = std::ldexp(1.0f, -static_cast<int>(i));
    }
  }

  float Loss() {
    executor_->Run(Phase::kPrepare);
    executor_->Run(Phase::kForward);
    return *executor_->Data<float>(executor_->program().results[0]);
  }
  void Gradients() {
    Loss();
    executor_->Run(Phase::kBackward);
  }

 private:
  TensorStore store_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace wt::nn
