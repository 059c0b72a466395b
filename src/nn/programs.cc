// Train, score and logits programs of any model; declared in gpt.h.
#include "nn/differentiate.h"
#include "nn/gpt.h"

namespace wt::nn {
namespace {

// [loss, nll]
std::vector<ValueId> AddHeadLoss(Graph* graph, const ModelConfig& config, const ModelOutput& output,
                                 int64_t predict) {
  const Shape tokens = graph->shape(graph->program().FindValue(kTokensInput));
  const ValueId targets = graph->Input(kTargetsInput, tokens, DType::kI32);
  const ValueId weights = graph->Input(kLossWeightsInput, {predict}, DType::kF32);
  graph->set_scope("head");
  return graph->CallAll("head_loss",
                        {output.hidden, graph->Weight(output.head_weight), targets, weights},
                        {{"softcap", config.softcap}});
}

}  // namespace

Result<ModelOutput> BuildModel(Graph* graph, const ModelConfig& config, const ModelFunction& model,
                               int64_t rows, int64_t time) {
  WT_RETURN_IF_ERROR(config.Validate());
  const ValueId tokens = graph->Input(kTokensInput, {rows, time}, DType::kI32);
  const ModelOutput output = model(*graph, config, tokens);
  WT_RETURN_IF_ERROR(graph->status());
  const auto valid = [&](ValueId id) {
    return id >= 0 && static_cast<size_t>(id) < graph->program().values.size();
  };
  if (!valid(output.hidden) || !valid(output.head_weight)) {
    return Error(Code::kInvalidArgument, "the model returned no hidden states or no head weight");
  }
  return output;
}

Result<TrainProgram> MakeTrainProgram(const ModelConfig& config, const ModelFunction& model,
                                      const GroupFunction& groups, const TrainOptions& options) {
  Graph graph(config.compute_dtype);
  WT_ASSIGN_OR_RETURN(const ModelOutput output,
                      BuildModel(&graph, config, model, options.rows, config.context));
  const std::vector<ValueId> head = AddHeadLoss(&graph, config, output, config.predict_tokens);
  WT_RETURN_IF_ERROR(graph.status());
  graph.program().results = {head[0], head[1]};
  WT_RETURN_IF_ERROR(Differentiate(&graph, head[0]));
  ApplyRecompute(&graph, options.recompute);
  WT_ASSIGN_OR_RETURN(const UpdateOutputs update,
                      AddOptimizer(&graph, groups(graph.program()), options.grad_clip));
  return TrainProgram{graph.program(), head[0], head[1], update.gradient_norm};
}

Result<ScoreProgram> MakeScoreProgram(const ModelConfig& config, const ModelFunction& model,
                                      int64_t rows, int64_t time) {
  Graph graph(config.compute_dtype);
  WT_ASSIGN_OR_RETURN(const ModelOutput output, BuildModel(&graph, config, model, rows, time));
  const std::vector<ValueId> head = AddHeadLoss(&graph, config, output, 1);
  WT_RETURN_IF_ERROR(graph.status());
  graph.program().results = {head[0], head[1]};
  return ScoreProgram{graph.program(), head[1]};
}

Result<LogitsProgram> MakeLogitsProgram(const ModelConfig& config, const ModelFunction& model,
                                        int64_t rows, int64_t time) {
  Graph graph(config.compute_dtype);
  WT_ASSIGN_OR_RETURN(const ModelOutput output, BuildModel(&graph, config, model, rows, time));
  graph.set_scope("head");
  const ValueId logits = graph.Call("logits", {output.hidden, graph.Weight(output.head_weight)},
                                    {{"softcap", config.softcap}});
  WT_RETURN_IF_ERROR(graph.status());
  graph.program().results = {logits};
  return LogitsProgram{graph.program(), logits};
}

}  // namespace wt::nn
