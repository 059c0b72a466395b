#include "nn/step_program.h"

#include <array>

#include "base/files.h"
#include "nn/op.h"

namespace wt::nn {
namespace {

std::string AttrText(const Attrs::Entry& entry) {
  if (const auto* i = std::get_if<int64_t>(&entry)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&entry)) return fmt::format("{}", *d);
  return std::get<std::string>(entry);
}

std::string Operands(const StepProgram& program, const std::vector<ValueId>& ids) {
  std::string text;
  for (ValueId id : ids) {
    if (!text.empty()) text += ", ";
    if (id == kNoValue) {
      text += "-";
      continue;
    }
    const Value& value = program.value(id);
    text += fmt::format("{} {}{}", value.name, DTypeName(value.dtype), ShapeText(value.shape));
  }
  return text;
}

}  // namespace

int64_t NumElements(const Shape& shape) {
  int64_t n = 1;
  for (int64_t extent : shape) n *= extent;
  return n;
}

std::string ShapeText(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

const char* PhaseName(Phase phase) {
  constexpr std::array kNames = {"prepare", "forward", "backward", "optimizer"};
  return kNames[static_cast<size_t>(phase)];
}

const char* ParameterKindName(ParameterKind kind) {
  constexpr std::array kNames = {"matrix", "embedding", "value_embedding", "head", "scalar"};
  return kNames[static_cast<size_t>(kind)];
}

int64_t Attrs::Int(const std::string& key) const { return std::get<int64_t>(entries_.at(key)); }
double Attrs::Real(const std::string& key) const { return std::get<double>(entries_.at(key)); }
const std::string& Attrs::Text(const std::string& key) const {
  return std::get<std::string>(entries_.at(key));
}

ValueId StepProgram::FindValue(const std::string& name) const {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].name == name) return static_cast<ValueId>(i);
  }
  return kNoValue;
}

int64_t StepProgram::ParameterCount() const {
  int64_t n = 0;
  for (const Parameter& parameter : parameters) n += NumElements(value(parameter.value).shape);
  return n;
}

std::string StepProgram::Listing() const {
  std::string text;
  for (const Node& node : nodes) {
    text += fmt::format("{:9} {:24} {}({}) -> {}", PhaseName(node.phase), node.scope, node.op->name,
                        Operands(*this, node.inputs), Operands(*this, node.outputs));
    for (const auto& [key, entry] : node.attrs.entries()) {
      text += fmt::format(" {}={}", key, AttrText(entry));
    }
    text += '\n';
  }
  return text;
}

std::string StepProgram::Hash() const { return Sha256(Listing()); }

}  // namespace wt::nn
