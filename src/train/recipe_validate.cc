// What a recipe's values must fulfil, alone and together. Types and names were checked in reading.
#include <cmath>

#include "train/recipe.h"

namespace wt::train {
namespace {

// "[table.key] is …; expected …"
template <class T>
Status Bad(const char* key, const T& given, const std::string& expected) {
  return Error(Code::kInvalidArgument, "{} is {}; expected {}", key, given, expected);
}

Status InRange(const char* key, double value, double low, double high) {
  if (value >= low && value <= high) return {};  // also refuses NaN
  if (std::isinf(high)) return Bad(key, value, fmt::format("at least {}", low));
  return Bad(key, value, fmt::format("{} to {}", low, high));
}
Status AtLeast(const char* key, double value, double low) {
  if (std::isfinite(value) && value >= low) return {};
  return Bad(key, value, fmt::format("at least {}", low));
}
Status Share(const char* key, double value) { return InRange(key, value, 0, 1); }
Status Below1(const char* key, double value) {
  return value >= 0 && value < 1 ? Status() : Bad(key, value, "0 up to, not including, 1");
}

Status ValidateGroup(const std::string& name, const AdamGroup& group) {
  const std::string key = "optimizer." + name;
  WT_RETURN_IF_ERROR(AtLeast((key + "_lr").c_str(), group.lr, 0));
  for (const double beta : group.betas) {
    WT_RETURN_IF_ERROR(Below1((key + "_betas").c_str(), beta));
  }
  return AtLeast((key + "_weight_decay").c_str(), group.weight_decay, 0);
}

Status ValidateOptimizer(const OptimizerConfig& o) {
  WT_RETURN_IF_ERROR(AtLeast("optimizer.muon_lr", o.muon_lr, 0));
  WT_RETURN_IF_ERROR(Below1("optimizer.muon_momentum", o.muon_momentum));
  WT_RETURN_IF_ERROR(Below1("optimizer.muon_beta2", o.muon_beta2));
  WT_RETURN_IF_ERROR(InRange("optimizer.muon_steps", static_cast<double>(o.muon_steps), 1, 16));
  WT_RETURN_IF_ERROR(AtLeast("optimizer.muon_weight_decay", o.muon_weight_decay, 0));
  WT_RETURN_IF_ERROR(ValidateGroup("embedding", o.embedding));
  WT_RETURN_IF_ERROR(ValidateGroup("value_embedding", o.value_embedding));
  WT_RETURN_IF_ERROR(ValidateGroup("head", o.head));
  WT_RETURN_IF_ERROR(ValidateGroup("scalar", o.scalar));
  WT_RETURN_IF_ERROR(ValidateGroup("matrix_adamw", o.matrix_adamw));
  if (!(o.adam_eps > 0)) return Bad("optimizer.adam_eps", o.adam_eps, "a positive number");
  WT_RETURN_IF_ERROR(AtLeast("optimizer.grad_clip", o.grad_clip, 0));
  WT_RETURN_IF_ERROR(Below1("optimizer.ema_decay", o.ema_decay));
  WT_RETURN_IF_ERROR(AtLeast("optimizer.ema_every", static_cast<double>(o.ema_every), 1));
  WT_RETURN_IF_ERROR(Share("optimizer.ema_blend", o.ema_blend));
  if (o.ema_blend > 0 && o.ema_decay == 0) {
    return Bad("optimizer.ema_decay", o.ema_decay,
               fmt::format("a decay above 0, as optimizer.ema_blend is {}", o.ema_blend));
  }
  return {};
}

Status ValidateShape(const ScheduleConfig& s) {
  WT_RETURN_IF_ERROR(Share("schedule.warmup", s.warmup));
  WT_RETURN_IF_ERROR(Share("schedule.warmdown", s.warmdown));
  WT_RETURN_IF_ERROR(Share("schedule.final_lr", s.final_lr));
  if (s.warmup + s.warmdown > 1) {
    return Bad("schedule.warmdown", s.warmdown,
               fmt::format("at most 1 - schedule.warmup = {}", 1 - s.warmup));
  }
  WT_RETURN_IF_ERROR(AtLeast("schedule.warmup_steps", static_cast<double>(s.warmup_steps), 0));
  WT_RETURN_IF_ERROR(
      AtLeast("schedule.momentum_warmup", static_cast<double>(s.momentum_warmup), 0));
  WT_RETURN_IF_ERROR(Below1("schedule.momentum_start", s.momentum_start));
  return Below1("schedule.momentum_end", s.momentum_end);
}

Status ValidateTokens(const char* key, double tokens, const Recipe& recipe) {
  const auto micro = static_cast<double>(recipe.micro_batch_tokens());
  if (tokens >= micro && std::fmod(tokens, micro) == 0 && tokens <= 1e12) return {};
  return Bad(key, tokens,
             fmt::format("a multiple of train.rows_per_core * data.context = {} * {} = {}",
                         recipe.train.rows_per_core, recipe.model.context, micro));
}

Status ValidatePhases(const Recipe& recipe) {
  double last = 0;
  for (const auto& [until, tokens] : recipe.schedule.batch_phases) {
    if (!(until > last && until <= 1)) {
      return Bad("schedule.batch_phases", until, "shares of the run that rise, above 0, at most 1");
    }
    WT_RETURN_IF_ERROR(ValidateTokens("schedule.batch_phases", tokens, recipe));
    last = until;
  }
  return {};
}

Status ValidateMultiToken(const Recipe& recipe) {
  const auto& weights = recipe.schedule.mtp_weights;
  if (!weights.empty() && std::ssize(weights) != recipe.model.predict_tokens) {
    return Bad("schedule.mtp_weights", fmt::format("{} numbers", weights.size()),
               fmt::format("as many as model.predict_tokens = {}", recipe.model.predict_tokens));
  }
  for (const double weight : weights) {
    WT_RETURN_IF_ERROR(AtLeast("schedule.mtp_weights", weight, 0));
  }
  if (!weights.empty() && weights[0] == 0) {
    return Bad("schedule.mtp_weights", "0 for the next token", "a positive first weight");
  }
  return Share("schedule.mtp_fade_end", recipe.schedule.mtp_fade_end);
}

Status ValidateData(const Recipe& recipe) {
  const DataConfig& d = recipe.data;
  if (d.corpus.empty()) return Bad("data.corpus", "empty", "a corpus name, file, folder or glob");
  const auto vocabulary = static_cast<double>(recipe.model.vocab_size);
  WT_RETURN_IF_ERROR(InRange("data.vocab_size", vocabulary, 257, 1 << 24));
  WT_RETURN_IF_ERROR(
      InRange("data.context", static_cast<double>(recipe.model.context), 1, 1 << 20));
  WT_RETURN_IF_ERROR(InRange("data.streams", static_cast<double>(d.streams), 1, 4096));
  WT_RETURN_IF_ERROR(AtLeast("data.shuffle_pool", static_cast<double>(d.shuffle_pool), 0));
  return AtLeast("data.buffer_documents", static_cast<double>(d.buffer_documents), 1);
}

Status ValidateTrain(const Recipe& recipe) {
  const TrainConfig& t = recipe.train;
  if (!(t.budget > 0)) return Bad("train.budget", t.budget, "a duration such as 60s or 30m");
  WT_RETURN_IF_ERROR(AtLeast("train.steps", static_cast<double>(t.steps), 0));
  if (recipe.schedule.by == ScheduleBasis::kSteps && t.steps == 0) {
    return Bad("train.steps", 0, "a number of steps, as schedule.by is \"steps\"");
  }
  WT_RETURN_IF_ERROR(InRange("train.rows_per_core", static_cast<double>(t.rows_per_core), 1, 1e6));
  WT_RETURN_IF_ERROR(InRange("train.threads", static_cast<double>(t.threads), 0, 4096));
  WT_RETURN_IF_ERROR(AtLeast("train.seed", static_cast<double>(t.seed), 0));
  const ClockConfig& c = recipe.clock;
  if (!(c.reserve < t.budget)) {
    return Bad("clock.reserve", fmt::format("{}s", c.reserve),
               fmt::format("less than train.budget = {}s", t.budget));
  }
  WT_RETURN_IF_ERROR(InRange("clock.step_margin", c.step_margin, 1, 100));
  return ValidateTokens("train.tokens_per_step", static_cast<double>(t.tokens_per_step), recipe);
}

Status ValidateChip(const Recipe& recipe) {
  const price::MachineConfig& m = recipe.machine;
  if (m.name.empty()) return Bad("machine.name", "empty", "a chip of data/chips such as trn2");
  if (m.lnc != 1 && m.lnc != 2) return Bad("machine.lnc", m.lnc, "1 or 2");
  WT_RETURN_IF_ERROR(InRange("machine.ranks", static_cast<double>(m.ranks), 1, 65536));
  return InRange("toolchain.opt_level", static_cast<double>(recipe.toolchain.opt_level), 1, 3);
}

Status ValidateEval(const Recipe& recipe) {
  const EvalConfig& e = recipe.eval;
  WT_RETURN_IF_ERROR(InRange("eval.context", static_cast<double>(e.context), 0, 1 << 20));
  WT_RETURN_IF_ERROR(InRange("eval.ranks", static_cast<double>(e.ranks), 1, 1024));
  WT_RETURN_IF_ERROR(InRange("eval.rows", static_cast<double>(e.rows), 1, 1e6));
  const int64_t least = recipe.eval_context() * e.ranks;
  return e.tokens >= least ? Status()
                           : Bad("eval.tokens", e.tokens,
                                 fmt::format("at least one row of {} tokens for each of {} ranks",
                                             recipe.eval_context(), e.ranks));
}

}  // namespace

Status ValidateRecipe(const Recipe& recipe) {
  WT_RETURN_IF_ERROR(ValidateData(recipe));
  WT_RETURN_IF_ERROR(recipe.model.Validate());
  WT_RETURN_IF_ERROR(ValidateOptimizer(recipe.optimizer));
  WT_RETURN_IF_ERROR(ValidateShape(recipe.schedule));
  WT_RETURN_IF_ERROR(ValidateTrain(recipe));
  WT_RETURN_IF_ERROR(ValidatePhases(recipe));
  WT_RETURN_IF_ERROR(ValidateMultiToken(recipe));
  WT_RETURN_IF_ERROR(ValidateChip(recipe));
  return ValidateEval(recipe);
}

}  // namespace wt::train
