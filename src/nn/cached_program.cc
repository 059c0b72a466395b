#include "nn/cached_program.h"

#include <utility>

namespace wt::nn {
namespace {

// Puts the twin in the node's place, with pools of `slots`.
void UseTwin(Graph* graph, size_t index, const CachedProgram& inputs, int64_t slots) {
  // Indices, since adding values and nodes moves them.
  StepProgram& program = graph->program();
  const CachedTwin twin = program.nodes[index].op->cached;
  std::vector<ValueId> pools;
  for (size_t i = twin.first_pooled; i < twin.first_pooled + twin.pooled; ++i) {
    const Value source = program.value(program.nodes[index].inputs[i]);
    const std::string name = fmt::format("pool{}.{}", index, i);
    pools.push_back(
        graph->AddValue(name, {{slots, source.shape.back()}, source.dtype}, Role::kPool));
  }
  Node& node = program.nodes[index];
  node.op = FindOp(twin.op);
  WT_CHECK(node.op != nullptr, "no op is named {}", twin.op);
  node.inputs.insert(node.inputs.end(), {inputs.positions, inputs.segments, inputs.paths});
  node.outputs.resize(1);
  node.outputs.insert(node.outputs.end(), pools.begin(), pools.end());
}

}  // namespace

Result<CachedProgram> MakeCachedProgram(const ModelConfig& config, const ModelFunction& model,
                                        const CachedSizes& sizes) {
  Graph graph(config.compute_dtype);
  // Built as one sequence of all positions, so that windows are those of a whole sequence.
  WT_ASSIGN_OR_RETURN(const ModelOutput output,
                      BuildModel(&graph, config, model, 1, sizes.positions));
  CachedProgram made;
  made.tokens = graph.program().FindValue(kTokensInput);
  made.positions = graph.Input("positions", {sizes.rows}, DType::kI32);
  made.segments = graph.Input("segments", {sizes.segments, 4}, DType::kI32);
  made.paths = graph.Input("paths", {sizes.paths}, DType::kI32);
  made.wanted = graph.Input("wanted", {sizes.wanted}, DType::kI32);
  for (size_t i = 0; i < graph.program().nodes.size(); ++i) {
    if (graph.program().nodes[i].op->cached.op) UseTwin(&graph, i, made, sizes.slots);
  }
  graph.set_scope("head");
  const ValueId hidden = graph.Call("take_rows", {output.hidden, made.wanted});
  made.logits = graph.Call("logits", {hidden, graph.Weight(output.head_weight)},
                           {{"softcap", config.softcap}});
  WT_RETURN_IF_ERROR(graph.status());
  made.program = graph.program();
  made.program.results = {made.logits};
  made.program.value(made.tokens).shape = {1, sizes.rows};
  WT_RETURN_IF_ERROR(InferShapes(&made.program));
  return made;
}

}  // namespace wt::nn
