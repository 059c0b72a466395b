#include "nn/graph.h"

namespace wt::nn {

void Graph::Fail(Status status) {
  if (status_.ok()) status_ = scope_.empty() ? std::move(status) : status.WithContext(scope_);
}

ValueId Graph::AddValue(const std::string& name, const ValueSpec& spec, Role role) {
  if (program_.FindValue(name) != kNoValue) {
    Fail(Error(Code::kInvalidArgument, "the name '{}' is used twice in the model", name));
  }
  for (int64_t extent : spec.shape) {
    if (extent < 1) {
      Fail(Error(Code::kInvalidArgument, "'{}' has shape {}; expected positive extents", name,
                 ShapeText(spec.shape)));
    }
  }
  Value value;
  value.shape = spec.shape;
  value.dtype = spec.dtype;
  value.name = name;
  value.role = role;
  program_.values.push_back(std::move(value));
  return static_cast<ValueId>(program_.values.size() - 1);
}

ValueId Graph::AddActivation(const std::string& op, const ValueSpec& spec) {
  return AddValue(fmt::format("%{}.{}", program_.values.size(), op), spec, Role::kActivation);
}

ValueId Graph::Input(const std::string& name, const Shape& shape, DType dtype) {
  return AddValue(name, {shape, dtype}, Role::kInput);
}

ValueId Graph::Parameter(const std::string& name, const Shape& shape, ParameterKind kind,
                         const Init& init) {
  const ValueId id = AddValue(name, {shape, DType::kF32}, Role::kParameter);
  program_.parameters.push_back({id, kNoValue, kind, init});
  return id;
}

ValueId Graph::Weight(ValueId parameter) {
  if (program_.value(parameter).dtype == compute_dtype_) return parameter;
  for (const auto& [source, cast] : weights_) {
    if (source == parameter) return cast;
  }
  const Value& value = program_.value(parameter);
  const ValueId cast = AddValue(value.name + "." + DTypeName(compute_dtype_),
                                {value.shape, compute_dtype_}, Role::kCache);
  CallAll("cast", {parameter}, {}, Phase::kPrepare, {cast});
  weights_.emplace_back(parameter, cast);
  return cast;
}

std::vector<ValueId> Graph::CallAll(const std::string& op, const std::vector<ValueId>& inputs,
                                    const Attrs& attrs, Phase phase,
                                    const std::vector<ValueId>& persistent_outputs) {
  const OpDef* def = FindOp(op);
  WT_CHECK(def != nullptr, "no op is named {}", op);
  // After a failure, keep the shape of the program sane without looking at operands.
  if (!status_.ok()) return {AddActivation(op, {{1}, DType::kF32})};
  InferResult specs = def->infer(OpCall(program_, attrs, inputs));
  if (!specs.ok()) {
    Fail(specs.status());
    return {AddActivation(op, {{1}, DType::kF32})};
  }
  Node node{def, attrs, inputs, {}, phase, scope_};
  for (const ValueSpec& spec : *specs) node.outputs.push_back(AddActivation(op, spec));
  node.outputs.insert(node.outputs.end(), persistent_outputs.begin(), persistent_outputs.end());
  program_.nodes.push_back(node);
  return node.outputs;
}

}  // namespace wt::nn
