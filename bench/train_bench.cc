// How fast one training step of a GPT runs here: prepare, forward and backward, optimizer, on
// random tokens. Prints tokens/s, FLOP/s and their share of what the processor can multiply,
// memory, and with --profile where the time goes. docs/PERFORMANCE.md holds what it printed.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "base/parallel.h"
#include "base/random.h"
#include "base/text_util.h"
#include "nn/executor.h"
#include "nn/gpt.h"
#include "tensor/block_gemm.h"
#include "tensor/peak.h"
#include "tensor/simd.h"
#include "train/recipe.h"
#include "train/update.h"

namespace wt {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

struct Options {
  int64_t depth = 6, width = 192, head_dim = 64, rows = 8, context = 1024, vocab = 8192;
  int64_t steps = 5, warmup = 1;
  int threads = 0;
  std::string isa, matrix = "muon", recompute = "none";
  std::vector<std::string> overrides;
  bool f32 = false, profile = false, json = false;
};

void AddOptions(CLI::App* app, Options* o) {
  app->add_option("--depth", o->depth, "blocks")->capture_default_str();
  app->add_option("--width", o->width, "channels")->capture_default_str();
  app->add_option("--head-dim", o->head_dim, "channels of a head")->capture_default_str();
  app->add_option("--rows", o->rows, "rows of the batch")->capture_default_str();
  app->add_option("--context", o->context, "tokens of a row")->capture_default_str();
  app->add_option("--vocab", o->vocab, "tokens there are")->capture_default_str();
  app->add_option("--steps", o->steps, "steps that are timed")->capture_default_str();
  app->add_option("--warmup", o->warmup, "steps before them")->capture_default_str();
  app->add_option("--threads", o->threads, "0: all cores")->capture_default_str();
  app->add_option("--isa", o->isa, "matrix kernels: plain, avx2, avx512, avx512_bf16, amx");
  app->add_option("--matrix", o->matrix, "optimiser of the matrices: muon, adamw");
  app->add_option("--recompute", o->recompute, "none, cheap, block");
  app->add_option("--set", o->overrides, "a recipe's key, such as model.kv_heads=1");
  app->add_flag("--f32", o->f32, "fp32 products and residual stream in place of bf16");
  app->add_flag("--profile", o->profile, "share of the time of each op");
  app->add_flag("--json", o->json, "one JSON object in place of text");
}

Result<train::Recipe> MakeRecipe(const Options& o) {
  std::vector<std::string> set = {
      fmt::format("model.depth={}", o.depth),
      fmt::format("model.width={}", o.width),
      fmt::format("model.head_dim={}", o.head_dim),
      fmt::format("data.context={}", o.context),
      fmt::format("data.vocab_size={}", o.vocab),
      fmt::format("train.rows_per_core={}", o.rows),
      fmt::format("train.tokens_per_step={}", o.rows * o.context),
      fmt::format("optimizer.matrix={}", o.matrix),
      fmt::format("train.precision={}", o.f32 ? "f32" : "bf16"),
      fmt::format("train.stream_precision={}", o.f32 ? "f32" : "bf16"),
  };
  set.insert(set.end(), o.overrides.begin(), o.overrides.end());
  return train::ParseRecipe("", "train_bench", set);
}

// A model with its memory, ready to step.
struct Bench {
  train::Recipe recipe;
  nn::TensorStore store;
  std::unique_ptr<nn::Executor> executor;
  nn::ValueId loss = nn::kNoValue;
};

void FillInputs(Bench* bench) {
  Philox random(1, 1);
  const nn::ModelConfig& model = bench->recipe.model;
  const int64_t tokens = bench->recipe.micro_batch_tokens();
  for (const char* name : {nn::kTokensInput, nn::kTargetsInput}) {
    auto* data = bench->executor->Data<int32_t>(name);
    for (int64_t i = 0; i < tokens; ++i) {
      data[i] = static_cast<int32_t>(random.NextBelow(static_cast<uint64_t>(model.vocab_size)));
    }
  }
  float* weights = bench->executor->Data<float>(nn::kLossWeightsInput);
  std::fill(weights, weights + model.predict_tokens, 1.0f);
}

Status Prepare(const Options& o, Bench* bench) {
  WT_ASSIGN_OR_RETURN(bench->recipe, MakeRecipe(o));
  WT_ASSIGN_OR_RETURN(const nn::Recompute recompute, nn::ParseRecompute(o.recompute));
  const auto groups = [&](const nn::StepProgram& program) {
    return train::MakeGroups(bench->recipe.optimizer, program);
  };
  WT_ASSIGN_OR_RETURN(nn::TrainProgram made,
                      nn::MakeTrainProgram(bench->recipe.model, nn::BuildGpt, groups,
                                           {bench->recipe.train.rows_per_core, recompute, 0}));
  bench->loss = made.loss;
  WT_ASSIGN_OR_RETURN(bench->executor, nn::Executor::Create(made.program, &bench->store));
  bench->store.Initialize(bench->executor->program(), 1);
  FillInputs(bench);
  return {};
}

// Processor time of all threads of this process: comparable on a machine that others use too.
double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct StepTime {
  double seconds, cpu_seconds;
};
StepTime TimedStep(Bench* bench, int64_t number) {
  const auto start = Clock::now();
  const double cpu_start = CpuSeconds();
  train::SetHyperInputs(bench->recipe, {}, number, 1, bench->executor.get());
  for (nn::Phase phase :
       {nn::Phase::kPrepare, nn::Phase::kForward, nn::Phase::kBackward, nn::Phase::kOptimizer}) {
    bench->executor->Run(phase);
  }
  return {std::chrono::duration<double>(Clock::now() - start).count(), CpuSeconds() - cpu_start};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double PeakResidentBytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

// FLOPs of the matrix products of one step: all of them, and those outside the optimiser ("model
// FLOPs", without recomputation when there is none).
struct Flops {
  double all = 0, model = 0;
};
Flops CountFlops(const nn::StepProgram& program) {
  Flops flops;
  for (const nn::Node& node : program.nodes) {
    const nn::OpCall call(program, node.attrs, node.inputs, node.outputs);
    const double n = node.op->work(call).matmul_flops;
    flops.all += n;
    if (node.phase != nn::Phase::kOptimizer) flops.model += n;
  }
  return flops;
}

Json Profile(const nn::Executor& executor, const std::vector<double>& before) {
  struct Row {
    double seconds = 0, flops = 0, bytes = 0;
  };
  std::map<std::string, Row> rows;
  double total = 0;
  const nn::StepProgram& program = executor.program();
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const nn::Node& node = program.nodes[i];
    const nn::Work work = node.op->work(nn::OpCall(program, node.attrs, node.inputs, node.outputs));
    const double seconds = executor.node_seconds()[i] - before[i];
    Row& row = rows[std::string(nn::PhaseName(node.phase)) + " " + node.op->name];
    row.seconds += seconds;
    row.flops += work.matmul_flops;
    row.bytes += static_cast<double>(work.bytes());
    total += seconds;
  }
  Json list = Json::array();
  for (const auto& [name, row] : rows) {
    list.push_back({{"op", name},
                    {"share", row.seconds / total},
                    {"seconds", row.seconds},
                    {"gflop", row.flops / 1e9},
                    {"mbytes", row.bytes / 1e6}});
  }
  std::sort(list.begin(), list.end(),
            [](const Json& a, const Json& b) { return a["share"] > b["share"]; });
  return list;
}

Json Measure(const Options& o, Bench* bench) {
  int64_t number = 0;
  for (int64_t i = 0; i < o.warmup; ++i) TimedStep(bench, ++number);
  const std::vector<double> before = bench->executor->node_seconds();
  std::vector<double> seconds, cpu_seconds;
  for (int64_t i = 0; i < o.steps; ++i) {
    const StepTime time = TimedStep(bench, ++number);
    seconds.push_back(time.seconds);
    cpu_seconds.push_back(time.cpu_seconds);
  }

  const Flops flops = CountFlops(bench->executor->program());
  const double step = Median(seconds), peak = tensor::MeasureMatrixPeak(Threads());
  Json result = {
      {"parameters", bench->executor->program().ParameterCount()},
      {"isa", tensor::ActiveBlockGemm(o.f32).name},
      {"vector_isa", tensor::VectorTargetName()},
      {"threads", Threads()},
      {"precision", o.f32 ? "f32" : "bf16"},
      {"step_seconds", step},
      {"cpu_seconds", Median(cpu_seconds)},
      {"tokens_per_second", static_cast<double>(bench->recipe.micro_batch_tokens()) / step},
      {"model_flops_per_second", flops.model / step},
      {"matmul_flops_per_second", flops.all / step},
      {"matrix_peak", peak},
      {"share_of_peak", flops.all / step / peak},
      {"peak_resident_bytes", PeakResidentBytes()},
      {"arena_bytes", bench->executor->plan().arena_bytes},
      {"persistent_bytes", bench->store.bytes()},
      {"loss", *bench->executor->Data<float>(bench->loss)},
  };
  if (o.profile) result["profile"] = Profile(*bench->executor, before);
  return result;
}

void Print(const Options& o, const Json& r) {
  fmt::print("{} parameters, {} rows of {}, {}, {} threads, {} ({} elementwise)\n",
             FormatCount(r["parameters"]), o.rows, o.context, r["precision"].get<std::string>(),
             r["threads"].get<int>(), r["isa"].get<std::string>(),
             r["vector_isa"].get<std::string>());
  fmt::print("{:10.0f} tokens/s   {:.3f} s a step ({:.3f} s of processor time), median of {}\n",
             r["tokens_per_second"].get<double>(), r["step_seconds"].get<double>(),
             r["cpu_seconds"].get<double>(), o.steps);
  fmt::print(
      "{:10.1f} GFLOP/s of the model; with the optimiser {:.1f}, {:.1f} % of {:.1f} GFLOP/s\n",
      r["model_flops_per_second"].get<double>() / 1e9,
      r["matmul_flops_per_second"].get<double>() / 1e9, 100 * r["share_of_peak"].get<double>(),
      r["matrix_peak"].get<double>() / 1e9);
  fmt::print("{:>10} resident at most: arena {}, parameters and state {}\n",
             FormatBytes(r["peak_resident_bytes"]), FormatBytes(r["arena_bytes"]),
             FormatBytes(r["persistent_bytes"]));
  if (!r.contains("profile")) return;
  fmt::print("\n  share   seconds   GFLOP/s      GB/s  phase and op\n");
  for (const Json& row : r["profile"]) {
    const double seconds =
        std::max(1e-12, row["seconds"].get<double>()) / static_cast<double>(o.steps);
    fmt::print("{:6.1f}% {:9.4f} {:9.1f} {:9.2f}  {}\n", 100 * row["share"].get<double>(), seconds,
               row["gflop"].get<double>() / seconds, row["mbytes"].get<double>() / 1e3 / seconds,
               row["op"].get<std::string>());
  }
}

Status Run(const Options& o) {
  if (o.threads > 0) SetThreads(o.threads);
  WT_RETURN_IF_ERROR(o.isa.empty() ? tensor::CheckBlockGemmEnvironment()
                                   : tensor::SetBlockGemm(o.isa));
  Bench bench;
  WT_RETURN_IF_ERROR(Prepare(o, &bench));
  const Json result = Measure(o, &bench);
  if (o.json) {
    fmt::print("{}\n", result.dump());
  } else {
    Print(o, result);
  }
  return {};
}

}  // namespace
}  // namespace wt

int main(int argc, char** argv) {
  CLI::App app("Speed of one training step");
  wt::Options options;
  wt::AddOptions(&app, &options);
  CLI11_PARSE(app, argc, argv);
  const wt::Status status = wt::Run(options);
  if (status.ok()) return 0;
  fmt::print(stderr, "train_bench: {}\n", status.message());
  return 1;
}
