#include "nn/optimizer.h"

#include <algorithm>
#include <map>

#include "tensor/muon.h"

namespace wt::nn {
namespace {

std::vector<ValueId> AddState(Graph* graph, const std::string& parameter,
                              const std::vector<std::pair<const char*, Shape>>& states) {
  std::vector<ValueId> ids;
  for (const auto& [suffix, shape] : states) {
    ids.push_back(graph->AddValue(parameter + suffix, {shape, DType::kF32}, Role::kState));
  }
  return ids;
}

void AddAdamW(Graph* graph, const Parameter& parameter, const OptimizerGroup& group, ValueId scale,
              ValueId hyper) {
  const Value value = graph->program().value(parameter.value);
  std::vector<ValueId> outputs = {parameter.value};
  for (ValueId id :
       AddState(graph, value.name, {{".adam_m", value.shape}, {".adam_v", value.shape}})) {
    outputs.push_back(id);
  }
  graph->CallAll("adamw", {parameter.gradient, scale, hyper}, {{"eps", group.adam_eps}},
                 Phase::kOptimizer, outputs);
}

void AddMuon(Graph* graph, const Parameter& parameter, const OptimizerGroup& group, ValueId scale,
             ValueId hyper) {
  const Value value = graph->program().value(parameter.value);
  if (value.shape.size() != 2) {
    return graph->Fail(Error(Code::kInvalidArgument,
                             "optimizer group {}: '{}' has shape {}; Muon takes matrices",
                             group.name, value.name, ShapeText(value.shape)));
  }
  const Shape second = {tensor::MuonSecondMomentSize(value.shape[0], value.shape[1])};
  std::vector<ValueId> outputs = {parameter.value};
  for (ValueId id :
       AddState(graph, value.name, {{".muon_momentum", value.shape}, {".muon_second", second}})) {
    outputs.push_back(id);
  }
  const MuonRule& rule = group.muon_rule;
  const auto flag = [](bool on) { return static_cast<int64_t>(on); };
  graph->CallAll("muon", {parameter.gradient, scale, hyper},
                 {{"steps", static_cast<int64_t>(rule.steps)},
                  {"nesterov", flag(rule.nesterov)},
                  {"row_equilibrate", flag(rule.row_equilibrate)},
                  {"renormalise", flag(rule.renormalise)},
                  {"normuon", flag(rule.normuon)},
                  {"cautious", flag(rule.cautious)},
                  {"exact", flag(graph->compute_dtype() == DType::kF32)}},
                 Phase::kOptimizer, outputs);
}

Status CheckGroups(const StepProgram& program, const std::vector<OptimizerGroup>& groups) {
  std::map<std::string, int> uses;
  for (const Parameter& parameter : program.parameters)
    uses[program.value(parameter.value).name] = 0;
  for (const OptimizerGroup& group : groups) {
    for (const std::string& name : group.parameters) {
      const auto found = uses.find(name);
      if (found == uses.end()) {
        return Error(Code::kInvalidArgument, "optimizer group {}: the model has no parameter '{}'",
                     group.name, name);
      }
      ++found->second;
    }
  }
  for (const auto& [name, count] : uses) {
    if (count == 1) continue;
    return Error(Code::kInvalidArgument, "parameter '{}' is in {} optimizer groups; expected one",
                 name, count);
  }
  return {};
}

const Parameter& FindParameter(const StepProgram& program, const std::string& name) {
  return *std::find_if(program.parameters.begin(), program.parameters.end(),
                       [&](const Parameter& p) { return program.value(p.value).name == name; });
}

// A program over the parameters of `trained` and their averages, one `op` each.
StepProgram MakeAverageProgram(const StepProgram& trained, const char* op, const char* input,
                               bool average_is_output) {
  Graph graph(DType::kF32);
  graph.set_scope(op);
  const ValueId factor = graph.Input(input, {1}, DType::kF32);
  for (const Parameter& parameter : trained.parameters) {
    const Value& value = trained.value(parameter.value);
    const ValueId p = graph.AddValue(value.name, value, Role::kParameter);
    const ValueId average = graph.AddValue(value.name + ".ema", value, Role::kState);
    graph.CallAll(op, {average_is_output ? p : average, factor}, {}, Phase::kOptimizer,
                  {average_is_output ? average : p});
  }
  return graph.program();
}

}  // namespace

std::string HyperInputName(const std::string& group) { return "hyper." + group; }

Result<UpdateOutputs> AddOptimizer(Graph* graph, const std::vector<OptimizerGroup>& groups,
                                   double clip) {
  WT_RETURN_IF_ERROR(graph->status());
  WT_RETURN_IF_ERROR(CheckGroups(graph->program(), groups));
  graph->set_scope("optimizer");
  const ValueId micro_batches = graph->Input(kMicroBatchesInput, {1}, DType::kF32);
  std::vector<ValueId> inputs = {micro_batches};
  for (const Parameter& parameter : graph->program().parameters)
    inputs.push_back(parameter.gradient);
  const auto scale = graph->CallAll("gradient_scale", inputs, {{"clip", clip}}, Phase::kOptimizer);
  WT_RETURN_IF_ERROR(graph->status());
  graph->program().results.push_back(scale[1]);
  for (const OptimizerGroup& group : groups) {
    if (group.parameters.empty()) continue;
    graph->set_scope("optimizer." + group.name);
    const ValueId hyper = graph->Input(HyperInputName(group.name), {kHyperSize}, DType::kF32);
    for (const std::string& name : group.parameters) {
      const Parameter parameter = FindParameter(graph->program(), name);
      group.muon ? AddMuon(graph, parameter, group, scale[0], hyper)
                 : AddAdamW(graph, parameter, group, scale[0], hyper);
    }
  }
  WT_RETURN_IF_ERROR(graph->status());
  return UpdateOutputs{scale[1]};
}

Result<StepProgram> MakeEmaProgram(const StepProgram& trained) {
  return MakeAverageProgram(trained, "ema", "ema.decay", true);
}

Result<StepProgram> MakeEmaBlendProgram(const StepProgram& trained) {
  return MakeAverageProgram(trained, "blend", "ema.alpha", false);
}

}  // namespace wt::nn
