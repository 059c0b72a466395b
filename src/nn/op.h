// The op table's row. A new op is one OpDef in ops/ and one line in op_table.cc: its shape rule,
// host function, derivative rule and work. No other list of ops exists.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nn/step_program.h"
#include "tensor/view.h"

namespace wt::nn {

class GradContext;  // differentiate.h

// What an op moves and computes, counted from shapes alone. Pricing and docs read it.
struct Work {
  double matmul_flops = 0;             // 2 m n k for each product
  DType matmul_dtype = DType::kBF16;   // of the products' inputs
  double vector_flops = 0;             // one per element and arithmetic step
  std::vector<int64_t> read_bytes;     // per input
  std::vector<int64_t> written_bytes;  // per output
  // Of the intermediate that the op never hands out, unmasked: attention scores, logits. What it
  // costs is up to the tool chain, so its bytes are not counted above.
  double inner_elements = 0;

  int64_t bytes() const;
};

// A node with its operands' shapes: what shape rules and work counts see.
class OpCall {
 public:
  OpCall(const StepProgram& program, const Attrs& attrs, std::span<const ValueId> inputs,
         std::span<const ValueId> outputs = {})
      : program_(program), attrs_(attrs), inputs_(inputs), outputs_(outputs) {}

  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i] != kNoValue; }
  const Value& input(size_t i) const { return program_.value(inputs_[i]); }
  const Value& output(size_t i) const { return program_.value(outputs_[i]); }
  const Attrs& attrs() const { return attrs_; }

  // Extents of input i: all but the last dimension multiplied, and the last.
  int64_t rows(size_t i) const;
  int64_t cols(size_t i) const { return input(i).shape.back(); }

 private:
  const StepProgram& program_;
  const Attrs& attrs_;
  std::span<const ValueId> inputs_, outputs_;
};

// A node with its operands' memory: what host functions see.
class RunContext : public OpCall {
 public:
  RunContext(const StepProgram& program, const Node& node, std::span<void* const> memory,
             std::span<std::byte> scratch)
      : OpCall(program, node.attrs, node.inputs, node.outputs),
        node_(node),
        memory_(memory),
        scratch_(scratch) {}

  // Null data when the operand is not given.
  tensor::ConstArray in(size_t i) const {
    if (!has_input(i)) return {};
    return {memory_[static_cast<size_t>(node_.inputs[i])], input(i).dtype};
  }
  tensor::Array out(size_t i) const {
    return {memory_[static_cast<size_t>(node_.outputs[i])], output(i).dtype};
  }
  template <class T>
  const T* in_as(size_t i) const {
    return static_cast<const T*>(in(i).data);
  }
  template <class T>
  T* out_as(size_t i) const {
    return static_cast<T*>(out(i).data);
  }
  tensor::ConstMatrix in_matrix(size_t i) const {
    return tensor::RowMajor(in(i).data, input(i).dtype, rows(i), cols(i));
  }
  tensor::Matrix out_matrix(size_t i) const {
    const Shape& shape = output(i).shape;
    return tensor::MutableRowMajor(out(i).data, output(i).dtype, NumElements(shape) / shape.back(),
                                   shape.back());
  }
  std::span<std::byte> scratch() const { return scratch_; }

 private:
  const Node& node_;
  std::span<void* const> memory_;
  std::span<std::byte> scratch_;
};

// The op that does the same for rows whose earlier tokens lie in pools (cached_program.h). Its
// inputs are the op's, then positions, segments and paths; after its output come the pools that it
// keeps of inputs [first_pooled, first_pooled + pooled).
struct CachedTwin {
  const char* op = nullptr;
  size_t first_pooled = 0, pooled = 0;
};

using InferResult = Result<std::vector<ValueSpec>>;

struct OpDef {
  const char* name;
  const char* summary;  // one line for the docs: the formula
  // Shape rule: the specs of the outputs the op creates (persistent outputs are appended by the
  // caller).
  InferResult (*infer)(const OpCall& call);
  void (*run)(const RunContext& context);
  // Emits backward nodes; null when the op is never differentiated.
  void (*grad)(GradContext& context);
  Work (*work)(const OpCall& call);
  // Output 0 may overwrite this input when nothing reads it later; -1: never.
  int in_place_input = -1;
  // Cheap enough to run again in the backward pass instead of keeping its result.
  bool cheap = false;
  // Bytes of scratch memory the host function wants; null: none.
  int64_t (*scratch_bytes)(const OpCall& call) = nullptr;
  // For an op that knows of positions or of other tokens: its twin over paths.
  CachedTwin cached = {};
};

const OpDef* FindOp(std::string_view name);  // null when there is none
std::span<const OpDef* const> AllOps();

// Sets the shapes of the outputs that nodes create, from those of the inputs; for a program whose
// inputs were given other shapes.
Status InferShapes(StepProgram* program);

// Every input read once, every output written once, `flops_per_element` of output 0.
Work ElementwiseWork(const OpCall& call, double flops_per_element);
Work MatmulWork(const OpCall& call, double m, double n, double k);

// "[linear] given x bf16[8, 640] and w bf16[64, 320]; expected …"
Status ShapeError(const char* op, const OpCall& call, const std::string& expected);

}  // namespace wt::nn
