// Recipe: everything one run is made of, read from a TOML file. It stands at the head of the way:
// data, model, optimiser, loop and score all take their settings from here, and the run folder
// keeps the complete text so that a run can be repeated from it alone.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "nn/model_config.h"
#include "nn/recompute.h"
#include "price/setup.h"

namespace wt::train {

enum class MatrixOptimizer { kMuon, kAdamW };
enum class ScheduleBasis { kTime, kSteps };
enum class DecaySchedule { kConstant, kCosine, kLinear };
enum class DataLayout { kStream, kBestFit };
enum class ClockKind { kHost, kTrn2 };

// One AdamW parameter group.
struct AdamGroup {
  double lr;
  std::array<double, 2> betas;
  double weight_decay;
};

struct OptimizerConfig {
  MatrixOptimizer matrix = MatrixOptimizer::kMuon;  // of the 2-D weights inside the blocks
  double muon_lr = 0.02;                            // times sqrt(max(1, rows / cols))
  double muon_momentum = 0.95;                      // between its warm-up and the warm-down
  double muon_beta2 = 0.9;                          // of the NorMuon second moment
  int64_t muon_steps = 5;                           // Polar Express iterations
  bool muon_nesterov = true;
  bool muon_row_equilibrate = false;  // every row to the rms row norm before the iteration
  bool muon_renormalise = false;      // Frobenius norm sqrt(min(rows, cols)) after it
  bool muon_normuon = true;
  bool muon_cautious = true;  // decay only where update and weight agree in sign
  double muon_weight_decay = 0.02;
  AdamGroup embedding = {0.30, {0.8, 0.995}, 0.001};
  AdamGroup value_embedding = {0.15, {0.8, 0.995}, 0.01};
  AdamGroup head = {0.006, {0.8, 0.96}, 0.01};
  AdamGroup scalar = {0.20, {0.9, 0.95}, 0};
  AdamGroup matrix_adamw = {0.002, {0.9, 0.95}, 0.1};  // when matrix = "adamw"
  double adam_eps = 1e-10;
  bool lr_width_scaling = true;  // embedding, value embedding and head lr * (width / 768)^-0.5
  double grad_clip = 0;          // largest global gradient norm; 0: none
  double ema_decay = 0;          // per update of the average; 0: no average
  int64_t ema_every = 32;        // steps between updates of the average
  double ema_blend = 0;          // saved weights = blend * average + (1 - blend) * last
  // How the update is organised on the chip; it changes the price of a step, not its numbers.
  price::Sharding sharding = price::Sharding::kNone;
  price::Scalars scalars = price::Scalars::kEach;
  price::Dispatch dispatch = price::Dispatch::kEager;
};

struct ScheduleConfig {
  ScheduleBasis by = ScheduleBasis::kTime;
  double warmup = 0;         // share of the run over which lr rises from 0
  int64_t warmup_steps = 0;  // the same in steps; the slower of the two holds
  double warmdown = 0.6;     // share of the run, at its end, over which lr falls
  double final_lr = 0.05;    // share of the full lr reached at the end
  double momentum_start = 0.85;
  double momentum_end = 0.95;     // reached at the end of the warm-down
  int64_t momentum_warmup = 300;  // steps from momentum_start to optimizer.muon_momentum
  DecaySchedule weight_decay = DecaySchedule::kConstant;
  // [until this share of the run, tokens a step], rising; after the last: train.tokens_per_step.
  std::vector<std::array<double, 2>> batch_phases;
  std::vector<double> mtp_weights;  // of targets t+1 … t+n; empty: 1, 1/2, 1/4 …
  double mtp_fade_end = 0.45;       // share of the run by which all but the first are 0; 0: no fade
};

// The context and the vocabulary are data.context and data.vocab_size in a recipe, and live in
// Recipe::model alone.
struct DataConfig {
  std::string corpus = "prose-v1";  // a name of data/corpora.toml, a file, a folder or a glob
  std::string val;                  // empty: the validation documents of the corpus
  std::string tokenizer;            // a file; empty: trained on the corpus at set-up
  DataLayout layout = DataLayout::kBestFit;
  int64_t streams = 1;                   // interleaved streams of layout = "stream"
  int64_t shuffle_pool = 0;              // rows drawn from at random; 0: in order
  int64_t buffer_documents = 1000;       // documents that best-fit packing chooses from
  int64_t max_document_bytes = 0;        // longer documents are cut at paragraphs; 0: whole
  int64_t tokenizer_characters = 10000;  // of a document, that train the tokenizer; 0: all
  bool mask_bos_targets = false;         // leave out of the loss the targets that are BOS
};

struct TrainConfig {
  double budget = 60;  // seconds
  int64_t steps = 0;   // the run ends after so many steps; 0: the budget alone ends it
  int64_t tokens_per_step = 16384;
  int64_t rows_per_core = 8;  // rows of one micro-batch
  int64_t seed = 1;
  int64_t threads = 0;                             // 0: all cores
  double eval_every = 0;                           // seconds; 0: at the end only
  double save_every = 60;                          // seconds; 0: at the end only
  nn::Recompute recompute = nn::Recompute::kNone;  // activations made again backward, not kept
  price::Accumulate accumulate = price::Accumulate::kHost;  // where micro-batches are summed
};

struct LossConfig {
  bool fused = false;  // the chip's head in chunks, without whole logits
};

struct ClockConfig {
  ClockKind kind = ClockKind::kHost;
  std::string rules;   // a file of data/contests, without its ending; empty: every second counts
  double reserve = 2;  // seconds kept for the last save, at least
  double step_margin = 2;  // the next step may take so many times the worst recent one
};

struct EvalConfig {
  int64_t tokens = 524288;
  int64_t context = 0;  // 0: data.context
  DataLayout layout = DataLayout::kStream;
  int64_t ranks = 1;  // whose striding cuts the token set, reproduced in one process
  int64_t rows = 8;   // rows of one evaluation batch
};

struct Recipe {
  nn::ModelConfig model;  // [model], [init], data.context, data.vocab_size, train.precision
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  DataConfig data;
  TrainConfig train;
  LossConfig loss;
  price::ToolchainConfig toolchain;
  std::map<std::string, std::string> kernels;  // [kernels]: op to "file.py:function"
  price::MachineConfig machine;
  ClockConfig clock;
  EvalConfig eval;

  int64_t eval_context() const { return eval.context ? eval.context : model.context; }
  // Tokens of one micro-batch.
  int64_t micro_batch_tokens() const { return train.rows_per_core * model.context; }
};

// Reads a recipe and then applies `overrides` ("model.depth=4", the value as in TOML, or bare text)
// in order. Fails with kInvalidArgument on an unknown table or key (naming the nearest), a wrong
// type or values that do not fit together, and with kNotFound for a missing file. `name` stands in
// messages.
Result<Recipe> ParseRecipe(std::string_view text, const std::string& name,
                           const std::vector<std::string>& overrides = {});
Result<Recipe> LoadRecipe(const std::string& path, const std::vector<std::string>& overrides = {});

// Whether the values are in range and fit together; ParseRecipe has called it.
Status ValidateRecipe(const Recipe& recipe);

// Canonical TOML with every key; reading it gives the same recipe.
std::string RecipeToToml(const Recipe& recipe);
Status SaveRecipe(const Recipe& recipe, const std::string& path);
// SHA-256 of the canonical text.
std::string RecipeHash(const Recipe& recipe);

// Every key with type, default and meaning, as Markdown (docs/RECIPE.md) and as terminal text.
std::string RecipeKeysMarkdown();
std::string RecipeKeysText();

}  // namespace wt::train
