#include "train/step_runner.h"

#include <cmath>
#include <cstring>

#include "base/machine.h"
#include "base/text_util.h"
#include "train/update.h"

namespace wt::train {
namespace {

text::Layout LayoutOf(DataLayout layout) {
  return layout == DataLayout::kStream ? text::Layout::kStream : text::Layout::kBestFit;
}

text::LoaderConfig LoaderConfigOf(const Recipe& recipe, int32_t bos) {
  text::LoaderConfig config;
  config.layout = LayoutOf(recipe.data.layout);
  config.context = recipe.model.context;
  config.rows = recipe.train.rows_per_core;
  config.buffer_documents = recipe.data.buffer_documents;
  config.streams = recipe.data.streams;
  config.shuffle_pool = recipe.data.shuffle_pool;
  config.seed = static_cast<uint64_t>(recipe.train.seed);
  config.bos = bos;
  config.mask_bos_targets = recipe.data.mask_bos_targets;
  return config;
}

Status CheckMemory(const nn::StepProgram& program) {
  const int64_t needed = ProgramBytes(program), available = AvailableMemoryBytes();
  if (available <= 0 || needed <= available) return {};
  return Error(Code::kCapacity,
               "this recipe needs {} of memory and {} are free; use fewer train.rows_per_core (the step "
               "stays the same), train.recompute = \"block\", or a smaller model.width or model.depth",
               FormatBytes(static_cast<double>(needed)), FormatBytes(static_cast<double>(available)));
}

NamedTensor View(const std::string& name, const nn::StoredTensor& tensor) {
  return {{name, tensor.spec.dtype, tensor.spec.shape}, tensor.buffer.data()};
}

Status CheckSame(const char* what, const std::string& saved, const std::string& now) {
  if (saved == now) return {};
  return Error(Code::kMismatch,
               "the checkpoint belongs to another {} ({}… and now {}…); resume with the run folder's own "
               "recipe.toml and data, or start a new run",
               what, saved.substr(0, 12), now.substr(0, 12));
}

}  // namespace

int64_t ProgramBytes(const nn::StepProgram& program) {
  int64_t bytes = nn::PlanMemory(program).arena_bytes;
  for (const nn::Value& value : program.values) {
    if (value.role != nn::Role::kActivation) bytes += value.bytes();
  }
  return bytes;
}

Result<std::unique_ptr<StepRunner>> StepRunner::Create(const Recipe& recipe,
                                                       const nn::ModelFunction& model,
                                                       const text::TokenSet& data, int32_t bos) {
  if (data.vocab_size() != recipe.model.vocab_size) {
    return Error(Code::kMismatch,
                 "the data's tokenizer has {} tokens and the recipe's data.vocab_size is {}; set it to {} or "
                 "choose another data.tokenizer",
                 data.vocab_size(), recipe.model.vocab_size, data.vocab_size());
  }
  std::unique_ptr<StepRunner> runner(new StepRunner(recipe));
  runner->recipe_hash_ = RecipeHash(recipe);
  runner->tokenizer_hash_ = data.tokenizer_hash();
  WT_RETURN_IF_ERROR(runner->OpenLoader(data, bos));
  WT_RETURN_IF_ERROR(runner->BuildProgram(model));
  WT_RETURN_IF_ERROR(runner->BuildAverages());
  return runner;
}

Status StepRunner::BuildProgram(const nn::ModelFunction& model) {
  const auto groups = [&](const nn::StepProgram& program) { return MakeGroups(recipe_.optimizer, program); };
  const nn::TrainOptions options = {recipe_.train.rows_per_core, recipe_.train.recompute,
                                    recipe_.optimizer.grad_clip};
  WT_ASSIGN_OR_RETURN(nn::TrainProgram made, nn::MakeTrainProgram(recipe_.model, model, groups, options));
  WT_RETURN_IF_ERROR(CheckMemory(made.program));
  nll_ = made.nll;
  gradient_norm_ = made.gradient_norm;
  program_hash_ = made.program.Hash();
  WT_ASSIGN_OR_RETURN(executor_, nn::Executor::Create(std::move(made.program), &store_));
  store_.Initialize(executor_->program(), static_cast<uint64_t>(recipe_.train.seed));
  return {};
}

Status StepRunner::BuildAverages() {
  if (recipe_.optimizer.ema_decay <= 0) return {};
  WT_ASSIGN_OR_RETURN(nn::StepProgram average, nn::MakeEmaProgram(executor_->program()));
  WT_ASSIGN_OR_RETURN(nn::StepProgram blend, nn::MakeEmaBlendProgram(executor_->program()));
  WT_ASSIGN_OR_RETURN(average_, nn::Executor::Create(std::move(average), &store_));
  WT_ASSIGN_OR_RETURN(blend_, nn::Executor::Create(std::move(blend), &store_));
  return {};
}

Status StepRunner::OpenLoader(const text::TokenSet& data, int32_t bos) {
  WT_ASSIGN_OR_RETURN(auto loader, text::MakeLoader(data, LoaderConfigOf(recipe_, bos)));
  loader_ = std::make_unique<text::PrefetchLoader>(std::move(loader));
  loader_state_ = loader_->SaveState();
  return {};
}

void StepRunner::CopyBatch() {
  loader_->Next(&batch_);
  const size_t bytes = batch_.inputs.size() * sizeof(int32_t);
  std::memcpy(executor_->Data<int32_t>(nn::kTokensInput), batch_.inputs.data(), bytes);
  std::memcpy(executor_->Data<int32_t>(nn::kTargetsInput), batch_.targets.data(), bytes);
}

double StepRunner::MeanLoss() const {
  double nats = 0;
  int64_t scored = 0;
  const float* nll = executor_->Data<float>(nll_);
  for (size_t i = 0; i < batch_.targets.size(); ++i) {
    if (batch_.targets[i] < 0) continue;
    nats += static_cast<double>(nll[i]);
    ++scored;
  }
  return scored ? nats / static_cast<double>(scored) : 0;
}

Result<StepOutcome> StepRunner::Step(const ScheduleValues& values,
                                     const std::function<bool(int64_t)>& may_go_on) {
  const int64_t micro_tokens = recipe_.micro_batch_tokens();
  const int64_t micro_batches = values.tokens_per_step / micro_tokens;
  float* weights = executor_->Data<float>(nn::kLossWeightsInput);
  for (size_t i = 0; i < values.mtp_weights.size(); ++i) weights[i] = static_cast<float>(values.mtp_weights[i]);
  SetHyperInputs(recipe_, values, steps_ + 1, micro_batches, executor_.get());

  StepOutcome outcome;
  executor_->Run(nn::Phase::kPrepare);
  for (int64_t i = 0; i < micro_batches; ++i) {
    if (i > 0 && !may_go_on((micro_batches - i) * micro_tokens)) {
      outcome.abandoned = true;
      return outcome;
    }
    CopyBatch();
    executor_->Run(nn::Phase::kForward);
    executor_->Run(nn::Phase::kBackward);
    outcome.loss += MeanLoss() / static_cast<double>(micro_batches);
  }
  if (!std::isfinite(outcome.loss)) {
    return Error(Code::kNumeric,
                 "step {}: the loss is {}; the update was not made. Lower the learning rates "
                 "(optimizer.muon_lr, optimizer.embedding_lr, …) or set optimizer.grad_clip",
                 steps_ + 1, outcome.loss);
  }
  executor_->Run(nn::Phase::kOptimizer);
  outcome.gradient_norm = static_cast<double>(*executor_->Data<float>(gradient_norm_));
  outcome.tokens = values.tokens_per_step;
  ++steps_;
  tokens_ += outcome.tokens;
  loader_state_ = loader_->SaveState();
  UpdateAverage();
  return outcome;
}

// The first average is the weights themselves: averaging from zero would pull towards zero.
void StepRunner::UpdateAverage() {
  const int64_t every = recipe_.optimizer.ema_every;
  if (!average_ || steps_ % every != 0) return;
  const bool first = steps_ == every;
  *average_->Data<float>("ema.decay") = first ? 0.0f : static_cast<float>(recipe_.optimizer.ema_decay);
  average_->Run(nn::Phase::kOptimizer);
}

void StepRunner::BlendAverage() {
  if (!blend_ || steps_ < recipe_.optimizer.ema_every) return;
  *blend_->Data<float>("ema.alpha") = static_cast<float>(recipe_.optimizer.ema_blend);
  blend_->Run(nn::Phase::kOptimizer);
}

CheckpointContents StepRunner::Contents() const {
  CheckpointContents contents;
  contents.state.step = steps_;
  contents.state.tokens = tokens_;
  contents.state.loader = loader_state_;
  contents.state.recipe_hash = recipe_hash_;
  contents.state.tokenizer_hash = tokenizer_hash_;
  contents.state.program_hash = program_hash_;
  for (const auto& [name, tensor] : store_.tensors()) {
    if (tensor.role == nn::Role::kParameter) contents.model.push_back(View(name, tensor));
    if (tensor.role == nn::Role::kState) contents.optimizer.push_back(View(name, tensor));
  }
  return contents;
}

Status StepRunner::Restore(const Checkpoint& checkpoint) {
  const CheckpointState& state = checkpoint.state();
  WT_RETURN_IF_ERROR(CheckSame("recipe", state.recipe_hash, recipe_hash_));
  WT_RETURN_IF_ERROR(CheckSame("tokenizer", state.tokenizer_hash, tokenizer_hash_));
  WT_RETURN_IF_ERROR(CheckSame("step program", state.program_hash, program_hash_));
  for (auto& [name, tensor] : store_.tensors()) {
    const bool parameter = tensor.role == nn::Role::kParameter;
    if (!parameter && tensor.role != nn::Role::kState) continue;
    const TensorInfo info = {name, tensor.spec.dtype, tensor.spec.shape};
    WT_RETURN_IF_ERROR(Checkpoint::Copy(parameter ? checkpoint.model() : checkpoint.optimizer(), info,
                                        tensor.buffer.data()));
  }
  WT_RETURN_IF_ERROR(loader_->RestoreState(state.loader));
  loader_state_ = state.loader;
  steps_ = state.step;
  tokens_ = state.tokens;
  return {};
}

double StepRunner::flops_per_token() const {
  double flops = 0;
  const nn::StepProgram& program = executor_->program();
  for (const nn::Node& node : program.nodes) {
    if (node.phase != nn::Phase::kForward && node.phase != nn::Phase::kBackward) continue;
    flops += node.op->work(nn::OpCall(program, node.attrs, node.inputs, node.outputs)).matmul_flops;
  }
  return flops / static_cast<double>(recipe_.micro_batch_tokens());
}

}  // namespace wt::train
