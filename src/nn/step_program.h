// StepProgram: the flat, static list of ops that one training step is. Everything else reads it:
// the executor runs it (executor.h), the price model prices it, a checker compares kernels with it.
//
// Activations are in single-assignment form. Parameters, their gradients and the optimiser's state
// are persistent: a node that lists one among its outputs updates it in place, and the order of the
// list is the order of events.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace wt::nn {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an operand that is not given
using Shape = std::vector<int64_t>;

int64_t NumElements(const Shape& shape);
std::string ShapeText(const Shape& shape);  // "[8, 1024, 640]"

enum class Role : uint8_t {
  kInput,      // set from outside before a phase runs
  kParameter,  // fp32 master weights
  kGradient,   // fp32, summed over the step's micro-batches
  kState,      // the optimiser's
  kCache,      // made once a step in the prepare phase, such as bf16 weights
  kPool,  // what later tokens need of earlier ones, by slot; an executor's own, kept between runs
  kActivation,  // lives from its producer to its last reader
};

enum class Phase : uint8_t {
  kPrepare,    // once a step, first
  kForward,    // every micro-batch
  kBackward,   // every micro-batch
  kOptimizer,  // once a step, last
};
const char* PhaseName(Phase phase);

struct ValueSpec {
  Shape shape;
  DType dtype = DType::kF32;
  int64_t bytes() const { return NumElements(shape) * DTypeBytes(dtype); }
};

struct Value : ValueSpec {
  std::string name;
  Role role = Role::kActivation;
};

// Constants of a node. Keys are few; a missing key is our own mistake, a wrong type too.
class Attrs {
 public:
  using Entry = std::variant<int64_t, double, std::string>;
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<const std::string, Entry>> entries) : entries_(entries) {}

  int64_t Int(const std::string& key) const;
  double Real(const std::string& key) const;
  const std::string& Text(const std::string& key) const;
  bool Has(const std::string& key) const { return entries_.count(key) != 0; }
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry> entries_;
};

struct OpDef;

struct Node {
  const OpDef* op = nullptr;
  Attrs attrs;
  std::vector<ValueId> inputs, outputs;
  Phase phase = Phase::kForward;
  std::string scope;  // where in the model it comes from: "layer3.attention"
};

// How a parameter starts: a + b * (0 | uniform in [-1, 1) | normal | position / (n - 1));
// kFirstRow: a in the first row, b in the others.
struct Init {
  enum class Kind : uint8_t { kConstant, kUniform, kNormal, kRamp, kFirstRow };
  Kind kind = Kind::kConstant;
  double a = 0, b = 0;
};
inline Init ConstantInit(double value) { return {Init::Kind::kConstant, value, 0}; }
inline Init UniformInit(double bound) { return {Init::Kind::kUniform, 0, bound}; }
inline Init NormalInit(double std) { return {Init::Kind::kNormal, 0, std}; }
inline Init RampInit(double first, double last) { return {Init::Kind::kRamp, first, last - first}; }

// What a parameter is, which decides its optimiser group.
enum class ParameterKind : uint8_t { kMatrix, kEmbedding, kValueEmbedding, kHead, kScalar };
const char* ParameterKindName(ParameterKind kind);

struct Parameter {
  ValueId value = kNoValue;
  ValueId gradient = kNoValue;  // set by Differentiate
  ParameterKind kind = ParameterKind::kMatrix;
  Init init;
};

struct StepProgram {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Parameter> parameters;
  std::vector<ValueId>
      results;  // activations read from outside after their phase: the loss, logits

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  Value& value(ValueId id) { return values[static_cast<size_t>(id)]; }
  // kNoValue when there is none.
  ValueId FindValue(const std::string& name) const;
  int64_t ParameterCount() const;
  // SHA-256 over values and nodes: equal programs do equal work.
  std::string Hash() const;
  // One line a node, for people and for golden tests.
  std::string Listing() const;
};

}  // namespace wt::nn
