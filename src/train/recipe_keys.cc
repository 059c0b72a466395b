#include "train/recipe_keys.h"

#include <cmath>
#include <type_traits>
#include <utility>

#include "base/text_util.h"

namespace wt::train {
namespace {

using Names = std::vector<std::string>;
using Keys = std::vector<RecipeKey>;

// A field of the recipe as a function, so that one row can read it and write it. A pointer to it: a
// row's code is made once a type of field then, not once a row.
template <class T>
using Field = T& (*)(Recipe& recipe);
#define WT_FIELD(path)            \
  +[](Recipe & recipe) -> auto& { \
    return recipe.path;           \
  }
template <class T>
const T& Value(Field<T> field, const Recipe& recipe) {
  return field(const_cast<Recipe&>(recipe));  // which a field only reaches into
}

std::string ToToml(bool value) { return value ? "true" : "false"; }
std::string ToToml(int64_t value) { return fmt::format("{}", value); }
std::string ToToml(double value) {
  std::string text = fmt::format("{}", value);  // shortest text that reads back the same
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}
std::string ToToml(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      text += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      text += c;
    }
  }
  return text + '"';
}
std::string ToToml(const std::array<double, 2>& pair);
template <class Items>
std::string ListToToml(const Items& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + ToToml(item);
  return "[" + text + "]";
}
std::string ToToml(const std::array<double, 2>& pair) { return ListToToml(pair); }
template <class T>
std::string ToToml(const std::vector<T>& list) {
  return ListToToml(list);
}

template <class T>
constexpr const char* kTypeName = nullptr;
template <>
constexpr const char* kTypeName<bool> = "true or false";
template <>
constexpr const char* kTypeName<int64_t> = "whole number";
template <>
constexpr const char* kTypeName<double> = "number";
template <>
constexpr const char* kTypeName<std::string> = "text";
template <>
constexpr const char* kTypeName<std::array<double, 2>> = "two numbers";
template <>
constexpr const char* kTypeName<std::vector<double>> = "list of numbers";
template <>
constexpr const char* kTypeName<std::vector<int64_t>> = "list of whole numbers";
template <>
constexpr const char* kTypeName<std::vector<std::array<double, 2>>> = "list of pairs";

RecipeKey Row(const std::string& name, std::string type, std::string doc) {
  const size_t dot = name.find('.');
  return {name.substr(0, dot), name.substr(dot + 1), std::move(type), std::move(doc), {}, {}};
}

template <class T>
RecipeKey Key(const std::string& name, Field<T> field, std::string doc) {
  RecipeKey row = Row(name, kTypeName<T>, std::move(doc));
  row.read = [field, key = row.key](TableReader& r, Recipe* out) { r.Get(key, &field(*out)); };
  row.write = [field](const Recipe& recipe) { return ToToml(Value(field, recipe)); };
  return row;
}

std::string SecondsToToml(double seconds) {
  return seconds > 0 ? fmt::format("\"{}s\"", seconds) : "\"never\"";
}

RecipeKey Seconds(const std::string& name, Field<double> field, std::string doc) {
  RecipeKey row = Row(name, "duration", std::move(doc));
  row.read = [field, key = row.key](TableReader& r, Recipe* out) {
    r.GetSeconds(key, &field(*out));
  };
  row.write = [field](const Recipe& recipe) { return SecondsToToml(Value(field, recipe)); };
  return row;
}

RecipeKey SecondsOrNever(const std::string& name, Field<double> field, std::string doc) {
  RecipeKey row = Seconds(name, field, std::move(doc));
  row.type = "duration or never";
  row.read = [field, key = row.key](TableReader& r, Recipe* out) {
    r.GetSecondsOrNever(key, &field(*out));
  };
  return row;
}

// An enum whose values count `names` from 0.
template <class Enum>
RecipeKey Choice(const std::string& name, Field<Enum> field, Names names, std::string doc) {
  RecipeKey row = Row(name, Join(names, " | "), std::move(doc));
  row.read = [field, names, key = row.key](TableReader& r, Recipe* out) {
    size_t index = static_cast<size_t>(field(*out));
    r.GetChoice(key, names, &index);
    field(*out) = static_cast<Enum>(index);
  };
  row.write = [field, names](const Recipe& recipe) {
    return ToToml(names.at(static_cast<size_t>(Value(field, recipe))));
  };
  return row;
}

Names ActivationNames() {
  Names names;
  for (int i = 0; i <= static_cast<int>(nn::Activation::kSwiglu); ++i) {
    names.push_back(nn::ActivationName(static_cast<nn::Activation>(i)));
  }
  return names;
}

const Names kLayouts = {"stream", "best_fit"};
const Names kPrecisions = {"f32", "bf16"};
static_assert(static_cast<int>(DType::kF32) == 0 && static_cast<int>(DType::kBF16) == 1);

Keys ModelKeys() {
  return {
      Key("model.depth", WT_FIELD(model.depth), "blocks"),
      Key("model.width", WT_FIELD(model.width), "channels of the residual stream"),
      Key("model.head_dim", WT_FIELD(model.head_dim),
          "channels of one head; divides width, and width / head_dim is the number of query heads"),
      Key("model.kv_heads", WT_FIELD(model.kv_heads),
          "key and value heads: 0 as many as query heads (MHA), 1 MQA, between them GQA"),
      Key("model.mlp_ratio", WT_FIELD(model.mlp_ratio), "hidden channels of the MLP / width"),
      Choice("model.activation", WT_FIELD(model.activation), ActivationNames(),
             "nonlinearity of the MLP"),
      Key("model.leaky_slope", WT_FIELD(model.leaky_slope), "slope below 0 of leaky_relu2"),
      Key("model.rope_base", WT_FIELD(model.rope_base), "base of the rotary position frequencies"),
      Key("model.qk_norm", WT_FIELD(model.qk_norm), "RMS-normalise queries and keys after RoPE"),
      Key("model.qk_gain", WT_FIELD(model.qk_gain), "factor on both normalised queries and keys"),
      Key("model.softcap", WT_FIELD(model.softcap), "logits = c tanh(z / c); 0 for none"),
      Key("model.tied_head", WT_FIELD(model.tied_head), "one matrix for embedding and head"),
      Key("model.residual_mix", WT_FIELD(model.residual_mix),
          "before each block x <- r x + z x0 with learned r and z, x0 the normalised embedding"),
      Key("model.value_embedding_layers", WT_FIELD(model.value_embedding_layers),
          "blocks whose values get a token embedding added; negative ones count from the last"),
      Key("model.value_embedding_shared", WT_FIELD(model.value_embedding_shared),
          "one value-embedding table for all those blocks"),
      Key("model.value_embedding_gate", WT_FIELD(model.value_embedding_gate),
          "channels that feed the gate of a value embedding; 0 for no gate"),
      Key("model.window_pattern", WT_FIELD(model.window_pattern),
          "attention windows tiled over the blocks: S short, L whole context; the last is L"),
      Key("model.short_window", WT_FIELD(model.short_window),
          "tokens of a short window; 0: a quarter of the context, rounded up to 128"),
      Key("model.conv_taps", WT_FIELD(model.conv_taps),
          "taps of a causal depthwise convolution before attention; 0 for none"),
      Key("model.smear_channels", WT_FIELD(model.smear_channels),
          "channels that feed the gate mixing in the previous token's embedding; 0 for none"),
      Key("model.attention_source_from", WT_FIELD(model.attention_source_from),
          "blocks from this one on read the attention input of attention_source_layer"),
      Key("model.attention_source_layer", WT_FIELD(model.attention_source_layer),
          "the block whose normalised input they read; -1 for off"),
      Key("model.predict_tokens", WT_FIELD(model.predict_tokens),
          "targets of each position: 1 the next token, n multi-token prediction"),
      Key("model.norm_eps", WT_FIELD(model.norm_eps), "epsilon of every RMSNorm"),
  };
}

Keys InitKeys() {
  return {
      Key("init.embedding_std", WT_FIELD(model.embedding_std), "normal, token embedding"),
      Key("init.head_std", WT_FIELD(model.head_std), "normal, head"),
      Key("init.matrix_scale", WT_FIELD(model.matrix_scale),
          "q, k, v and MLP-in: uniform within scale * sqrt(3 / width)"),
      Key("init.out_scale", WT_FIELD(model.out_scale),
          "the same for the two output projections; 0 starts each block as the identity"),
      Key("init.residual_start", WT_FIELD(model.residual_start), "r of the first block"),
      Key("init.residual_end", WT_FIELD(model.residual_end), "r of the last block"),
      Key("init.x0_start", WT_FIELD(model.x0_start), "z of the first block"),
      Key("init.x0_end", WT_FIELD(model.x0_end), "z of the last block"),
  };
}

Keys MuonKeys() {
  return {
      Choice("optimizer.matrix", WT_FIELD(optimizer.matrix), {"muon", "adamw"},
             "optimiser of the matrices inside the blocks"),
      Key("optimizer.muon_lr", WT_FIELD(optimizer.muon_lr),
          "Muon's learning rate, times sqrt(max(1, rows / cols))"),
      Key("optimizer.muon_momentum", WT_FIELD(optimizer.muon_momentum),
          "momentum between its warm-up and the warm-down"),
      Key("optimizer.muon_beta2", WT_FIELD(optimizer.muon_beta2),
          "decay of NorMuon's second moment"),
      Key("optimizer.muon_steps", WT_FIELD(optimizer.muon_steps), "Polar Express iterations"),
      Key("optimizer.muon_nesterov", WT_FIELD(optimizer.muon_nesterov), "Nesterov momentum"),
      Key("optimizer.muon_row_equilibrate", WT_FIELD(optimizer.muon_row_equilibrate),
          "bring every row to the rms row norm before the iterations"),
      Key("optimizer.muon_renormalise", WT_FIELD(optimizer.muon_renormalise),
          "bring the Frobenius norm to sqrt(min(rows, cols)) after them"),
      Key("optimizer.muon_normuon", WT_FIELD(optimizer.muon_normuon),
          "NorMuon's normalisation by row or column, at unchanged Frobenius norm"),
      Key("optimizer.muon_cautious", WT_FIELD(optimizer.muon_cautious),
          "decay weights only where update and weight agree in sign"),
      Key("optimizer.muon_weight_decay", WT_FIELD(optimizer.muon_weight_decay),
          "decoupled weight decay of Muon's matrices"),
  };
}

void AddGroup(Keys* keys, const std::string& name, const std::string& what, Field<double> lr,
              Field<std::array<double, 2>> betas, Field<double> decay) {
  keys->push_back(Key("optimizer." + name + "_lr", lr, "AdamW learning rate, " + what));
  keys->push_back(Key("optimizer." + name + "_betas", betas, "decay of both moments, " + what));
  keys->push_back(Key("optimizer." + name + "_weight_decay", decay, "decoupled decay, " + what));
}
#define WT_GROUP(group)                                          \
  WT_FIELD(optimizer.group.lr), WT_FIELD(optimizer.group.betas), \
      WT_FIELD(optimizer.group.weight_decay)

Keys AdamKeys() {
  Keys keys;
  AddGroup(&keys, "embedding", "token embedding", WT_GROUP(embedding));
  AddGroup(&keys, "value_embedding", "value embeddings", WT_GROUP(value_embedding));
  AddGroup(&keys, "head", "head", WT_GROUP(head));
  AddGroup(&keys, "scalar", "learned scalars and vectors", WT_GROUP(scalar));
  AddGroup(&keys, "matrix_adamw", "block matrices under matrix = \"adamw\"",
           WT_GROUP(matrix_adamw));
  const Keys rest = {
      Key("optimizer.adam_eps", WT_FIELD(optimizer.adam_eps), "epsilon of every AdamW group"),
      Key("optimizer.lr_width_scaling", WT_FIELD(optimizer.lr_width_scaling),
          "embedding and head learning rates times (width / 768)^-0.5"),
      Key("optimizer.grad_clip", WT_FIELD(optimizer.grad_clip),
          "largest global gradient norm; 0 for no clipping"),
      Key("optimizer.ema_decay", WT_FIELD(optimizer.ema_decay),
          "decay of the averaged weights at each of their updates; 0 for no average"),
      Key("optimizer.ema_every", WT_FIELD(optimizer.ema_every), "steps between those updates"),
      Key("optimizer.ema_blend", WT_FIELD(optimizer.ema_blend),
          "final weights = blend * average + (1 - blend) * last"),
      Choice("optimizer.sharding", WT_FIELD(optimizer.sharding), {"none", "muon", "zero1", "zero2"},
             "priced: split over ranks are Muon's products, the state (zero1), gradients (zero2)"),
      Choice("optimizer.scalars", WT_FIELD(optimizer.scalars), {"each", "stacked"},
             "priced: a tensor and an update for each learned scalar, or one for all"),
      Choice("optimizer.dispatch", WT_FIELD(optimizer.dispatch), {"eager", "async", "compiled"},
             "priced: the update op by op, op by op without waiting, or one program"),
  };
  keys.insert(keys.end(), rest.begin(), rest.end());
  return keys;
}

Keys ScheduleKeys() {
  return {
      Choice("schedule.by", WT_FIELD(schedule.by), {"time", "steps"},
             "what the run's progress is a share of: charged time (train.budget) or train.steps"),
      Key("schedule.warmup", WT_FIELD(schedule.warmup),
          "share of the run in which the learning rate rises from 0"),
      Key("schedule.warmup_steps", WT_FIELD(schedule.warmup_steps),
          "the same as a number of steps; the slower of the two holds"),
      Key("schedule.warmdown", WT_FIELD(schedule.warmdown),
          "share of the run, at its end, in which the learning rate falls; flat in between"),
      Key("schedule.final_lr", WT_FIELD(schedule.final_lr),
          "share of the full learning rate that is left at the end"),
      Key("schedule.momentum_start", WT_FIELD(schedule.momentum_start), "Muon momentum at step 0"),
      Key("schedule.momentum_end", WT_FIELD(schedule.momentum_end),
          "Muon momentum at the end of the warm-down"),
      Key("schedule.momentum_warmup", WT_FIELD(schedule.momentum_warmup),
          "steps from momentum_start to optimizer.muon_momentum"),
      Choice("schedule.weight_decay", WT_FIELD(schedule.weight_decay),
             {"constant", "cosine", "linear"}, "how weight decay falls to 0 over the run"),
      Key("schedule.batch_phases", WT_FIELD(schedule.batch_phases),
          "[until this share of the run, tokens a step], …; then train.tokens_per_step"),
      Key("schedule.mtp_weights", WT_FIELD(schedule.mtp_weights),
          "loss weights of the model.predict_tokens targets; empty for 1, 1/2, 1/4 …"),
      Key("schedule.mtp_fade_end", WT_FIELD(schedule.mtp_fade_end),
          "share of the run by which all but the first have faded to 0; 0 for no fading"),
  };
}

Keys DataKeys() {
  return {
      Key("data.corpus", WT_FIELD(data.corpus),
          "a name from data/corpora.toml, a file, a folder or a glob"),
      Key("data.val", WT_FIELD(data.val),
          "validation text, likewise; empty for the validation documents of the corpus"),
      Key("data.tokenizer", WT_FIELD(data.tokenizer),
          "tokenizer file; empty for the one trained on the corpus at set-up"),
      Key("data.vocab_size", WT_FIELD(model.vocab_size), "token ids, special ones included"),
      Key("data.context", WT_FIELD(model.context), "tokens of one row"),
      Choice("data.layout", WT_FIELD(data.layout), kLayouts,
             "rows cut from one stream, or starting at a document and packed by best fit"),
      Key("data.streams", WT_FIELD(data.streams), "interleaved streams of layout = \"stream\""),
      Key("data.shuffle_pool", WT_FIELD(data.shuffle_pool),
          "rows from which the next one is drawn at random; 0 for corpus order"),
      Key("data.buffer_documents", WT_FIELD(data.buffer_documents),
          "documents that best-fit packing chooses from"),
      Key("data.max_document_bytes", WT_FIELD(data.max_document_bytes),
          "documents longer than this are cut at paragraph ends; 0 for whole ones"),
      Key("data.tokenizer_characters", WT_FIELD(data.tokenizer_characters),
          "of each document, that train the tokenizer; 0 for all"),
      Key("data.mask_bos_targets", WT_FIELD(data.mask_bos_targets),
          "leave targets that begin a document out of the training loss"),
  };
}

Keys TrainKeys() {
  return {
      Seconds("train.budget", WT_FIELD(train.budget),
              "charged time, all included, by which the checkpoint is written"),
      Key("train.steps", WT_FIELD(train.steps), "end after so many steps; 0 for the budget alone"),
      Key("train.tokens_per_step", WT_FIELD(train.tokens_per_step),
          "tokens of one optimiser step; a multiple of rows_per_core * data.context"),
      Key("train.rows_per_core", WT_FIELD(train.rows_per_core),
          "rows of one micro-batch; more run faster and take more memory"),
      Key("train.seed", WT_FIELD(train.seed), "of initialisation and shuffling"),
      Key("train.threads", WT_FIELD(train.threads), "0 for all cores; does not change the result"),
      SecondsOrNever("train.eval_every", WT_FIELD(train.eval_every),
                     "charged time between evaluations during the run"),
      SecondsOrNever("train.save_every", WT_FIELD(train.save_every),
                     "charged time between checkpoints during the run"),
      Choice("train.recompute", WT_FIELD(train.recompute), {"none", "cheap", "block"},
             "what the backward pass computes again instead of keeping: cheap ops or whole blocks"),
      Choice("train.precision", WT_FIELD(model.compute_dtype), kPrecisions,
             "of products and activations; sums, softmax, loss and master weights are f32"),
      Choice("train.stream_precision", WT_FIELD(model.stream_dtype), kPrecisions,
             "of the residual stream"),
      Choice("train.accumulate", WT_FIELD(train.accumulate), {"host", "graph"},
             "priced: micro-batches' gradients summed by ops of the host or inside the program"),
  };
}

Keys ChipKeys() {
  return {
      Key("loss.fused", WT_FIELD(loss.fused),
          "priced: head and cross entropy in chunks, so that whole logits never exist"),
      Choice("toolchain.mode", WT_FIELD(toolchain.mode), {"kernels", "compiled", "eager"},
             "our or your kernels for each op, neuronx-cc's code, or op by op from the host"),
      Key("toolchain.opt_level", WT_FIELD(toolchain.opt_level), "neuronx-cc's -O"),
      Choice("toolchain.auto_cast", WT_FIELD(toolchain.auto_cast), {"none", "matmult"},
             "neuronx-cc's --auto-cast: matmult runs fp32 products in bf16"),
      Key("machine.name", WT_FIELD(machine.name), "a chip of data/chips"),
      Key("machine.lnc", WT_FIELD(machine.lnc), "physical cores of one rank: 1 or 2"),
      Key("machine.ranks", WT_FIELD(machine.ranks),
          "processes; lnc * ranks = 8 uses a whole chip. Each takes train.rows_per_core rows"),
  };
}

Keys ClockAndEvalKeys() {
  return {
      Choice("clock.kind", WT_FIELD(clock.kind), {"host", "trn2"},
             "what is charged: host, the real time on this machine; trn2, what the work would take "
             "on the chip (windtunnel rehearse)"),
      Key("clock.rules", WT_FIELD(clock.rules),
          "rules that say which seconds count against the budget, a file of data/contests without "
          "its ending; empty: all of them"),
      Seconds("clock.reserve", WT_FIELD(clock.reserve),
              "time kept for the last save, at least; more when saves were seen to take longer"),
      Key("clock.step_margin", WT_FIELD(clock.step_margin),
          "a step starts only if one so many times as slow as the worst recent one still fits"),
      Key("eval.tokens", WT_FIELD(eval.tokens), "validation tokens that are scored"),
      Key("eval.context", WT_FIELD(eval.context), "tokens of one row; 0 for data.context"),
      Choice("eval.layout", WT_FIELD(eval.layout), kLayouts, "how the rows are cut"),
      Key("eval.ranks", WT_FIELD(eval.ranks),
          "ranks whose striding picks the documents, reproduced in one process"),
      Key("eval.rows", WT_FIELD(eval.rows), "rows of one batch; does not change the result"),
  };
}

}  // namespace

const std::vector<RecipeKey>& RecipeKeys() {
  static const Keys keys = [] {
    Keys all;
    for (Keys part : {ModelKeys(), InitKeys(), MuonKeys(), AdamKeys(), ScheduleKeys(), DataKeys(),
                      TrainKeys(), ChipKeys(), ClockAndEvalKeys()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return keys;
}

const std::vector<std::string>& RecipeTables() {
  static const Names tables = [] {
    Names names;
    for (const RecipeKey& row : RecipeKeys()) {
      if (names.empty() || names.back() != row.table) names.push_back(row.table);
    }
    return names;
  }();
  return tables;
}

std::string RecipeTableDoc(const std::string& table) {
  if (table == "model") return "The network: a GPT of this shape.";
  if (table == "init") return "Weights before the first step.";
  if (table == "optimizer") return "Muon for the matrices inside the blocks, AdamW for the rest.";
  if (table == "schedule") return "What changes in the course of the run.";
  if (table == "data") return "The text, and how it becomes rows of tokens.";
  if (table == "train") return "How long, how much at once, and with which seed.";
  if (table == "loss") return "The head's loss.";
  if (table == "toolchain") return "What turns the step into a program of the chip.";
  if (table == "machine") return "The chip that `windtunnel price` prices the step on.";
  if (table == "clock") return "What is charged to the budget, and how the run stops in time.";
  if (table == "eval") return "How the result is scored, in bits per byte of validation text.";
  WT_CHECK(false, "no line about [{}]", table);
}

}  // namespace wt::train
