// For tests: a small machine, tensors with values, and instructions by name.
//     Bench bench;
//     Tensor* x = bench.Sbuf("x", 128, 512, DType::kF32, RandomFloats(128 * 512));
//     EXPECT_TRUE(bench.Call("tensor_copy").Op("dst", All(y)).Op("src", Slice(x, 0,
//     64)).Issue().ok());
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "chip/convert.h"
#include "chip/core.h"
#include "chip/error_class.h"
#include "chip/execute.h"
#include "chip/hbm.h"
#include "chip/isa.h"
#include "chip/machine.h"

namespace wt::chip {

// The machine file of a generation; read once.
inline std::shared_ptr<const Machine> TestMachine(Generation generation = Generation::kGen3) {
  static std::map<Generation, std::shared_ptr<const Machine>> machines;
  std::shared_ptr<const Machine>& machine = machines[generation];
  if (!machine) {
    auto loaded = Machine::Load(generation == Generation::kGen4   ? "trn3"
                                : generation == Generation::kGen3 ? "trn2"
                                                                  : "trn1");
    WT_CHECK(loaded.ok(), "{}", loaded.status().message());
    machine = *std::move(loaded);
  }
  return machine;
}

// [partitions, free…], dense from the start of the tensor.
inline AccessPattern Pattern(Tensor* tensor, DType dtype, std::vector<int64_t> sizes) {
  AccessPattern pattern;
  pattern.tensor = tensor;
  pattern.dtype = dtype;
  pattern.num_dims = static_cast<uint8_t>(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    pattern.dims[i] = {i == 0 && pattern.on_chip() ? 1 : step, sizes[i]};
    step *= sizes[i];
  }
  return pattern;
}

// The whole tensor as [partitions, elements]; an HBM tensor as one row.
inline AccessPattern All(Tensor* tensor) {
  return Pattern(tensor, tensor->dtype,
                 {tensor->partitions, tensor->partition_bytes / DTypeBytes(tensor->dtype)});
}

// An HBM tensor as [rows, columns].
inline AccessPattern Matrix(Tensor* tensor, int64_t rows, int64_t columns) {
  return Pattern(tensor, tensor->dtype, {rows, columns});
}

// Rows [p, p + partitions) and elements offset, offset + step, … of an on-chip tensor.
inline AccessPattern Slice(Tensor* tensor, int p, int64_t partitions, int64_t offset, int64_t size,
                           int64_t step = 1) {
  AccessPattern pattern = Pattern(tensor, tensor->dtype, {partitions, size});
  pattern.start_partition = p;
  pattern.offset = offset;
  pattern.dims[1].step = step;
  return pattern;
}

// An instruction under construction; parameters by their Python names.
class Call {
 public:
  Call(Core& core, std::string_view name) : core_(core) {
    instr_.def = FindInstr(name);
    WT_CHECK(instr_.def != nullptr, "no instruction {}", name);
  }
  Call& Op(std::string_view param, const AccessPattern& pattern) {
    arg(param).kind = Arg::kOperand;
    arg(param).i = static_cast<int64_t>(instr_.operands.size());
    instr_.operands.push_back(pattern);
    return *this;
  }
  Call& Ops(std::string_view param, const std::vector<AccessPattern>& patterns) {
    Arg& a = arg(param);
    a.kind = Arg::kOperands;
    a.i = static_cast<int64_t>(instr_.operands.size());
    a.count = static_cast<int32_t>(patterns.size());
    instr_.operands.insert(instr_.operands.end(), patterns.begin(), patterns.end());
    return *this;
  }
  Call& Float(std::string_view param, double value) {
    arg(param).kind = Arg::kFloat;
    arg(param).f = value;
    return *this;
  }
  Call& Int(std::string_view param, int64_t value) { return Set(param, Arg::kInt, value); }
  Call& Bool(std::string_view param, bool value) { return Set(param, Arg::kBool, value); }
  template <class E>
  Call& Name(std::string_view param, E value) {
    return Set(param, Arg::kName, static_cast<int64_t>(value));
  }
  Call& Ints(std::string_view param, const std::vector<int64_t>& values) {
    Set(param, Arg::kInts, static_cast<int64_t>(instr_.ints.size()));
    arg(param).count = static_cast<int32_t>(values.size());
    instr_.ints.insert(instr_.ints.end(), values.begin(), values.end());
    return *this;
  }
  // An offset known at run time, for the operand given to `param`.
  Call& Offset(std::string_view param, const AccessPattern& index, int64_t unit, bool vector) {
    Dynamic dynamic;
    dynamic.operand = static_cast<int>(arg(param).i);
    dynamic.index_operand = static_cast<int>(instr_.operands.size());
    dynamic.vector = vector;
    dynamic.unit = unit;
    instr_.operands.push_back(index);
    instr_.dynamics.push_back(dynamic);
    return *this;
  }
  Status Issue() { return core_.Issue(instr_); }
  Instr& instr() { return instr_; }

 private:
  Arg& arg(std::string_view param) {
    const int index = ParamIndex(*instr_.def, param);
    WT_CHECK(index >= 0, "{} has no parameter {}", instr_.def->name, param);
    return instr_.args[static_cast<size_t>(index)];
  }
  Call& Set(std::string_view param, Arg::Kind kind, int64_t value) {
    arg(param).kind = kind;
    arg(param).i = value;
    return *this;
  }

  Core& core_;
  Instr instr_;
};

// A core with nothing around it.
class Bench {
 public:
  explicit Bench(Generation generation = Generation::kGen3, CoreOptions options = {})
      : core_(TestMachine(generation), options) {}
  explicit Bench(std::shared_ptr<const Machine> machine, CoreOptions options = {})
      : core_(std::move(machine), options) {}

  Core& core() { return core_; }
  chip::Call Call(std::string_view name) { return chip::Call(core_, name); }

  // `elements` a partition, of undefined bytes or with values rounded to dtype.
  Tensor* Make(Memory memory, const std::string& name, int64_t partitions, int64_t elements,
               DType dtype, const std::vector<float>& values = {}) {
    TensorSpec spec;
    spec.memory = memory;
    spec.name = name;
    spec.dtype = dtype;
    spec.partitions = partitions;
    spec.partition_bytes = elements * DTypeBytes(dtype);
    Result<Tensor*> tensor = core_.Allocate(spec);
    WT_CHECK(tensor.ok(), "{}", tensor.status().message());
    if (!values.empty()) Fill(*tensor, values);
    return *tensor;
  }
  Tensor* Sbuf(const std::string& name, int64_t partitions, int64_t elements, DType dtype,
               const std::vector<float>& values = {}) {
    return Make(Memory::kSbuf, name, partitions, elements, dtype, values);
  }
  Tensor* Psum(const std::string& name, int64_t partitions, int64_t elements, DType dtype,
               const std::vector<float>& values = {}) {
    return Make(Memory::kPsum, name, partitions, elements, dtype, values);
  }
  Tensor* Hbm(const std::string& name, int64_t elements, DType dtype,
              const std::vector<float>& values = {}) {
    return Make(Memory::kHbm, name, 1, elements, dtype, values);
  }

  void Fill(Tensor* tensor, const std::vector<float>& values) {
    const AccessPattern all = All(tensor);
    const Walk walk{all.Merged(), {}, false};
    for (int64_t p = 0; p < walk.rows(); ++p)
      StoreRow(walk, p, values.data() + p * walk.row_elements());
    MarkWritten(all);
  }
  static std::vector<float> Read(const AccessPattern& pattern) {
    const Walk walk{pattern.Merged(), {}, false};
    std::vector<float> values(static_cast<size_t>(pattern.elements()));
    for (int64_t p = 0; p < walk.rows(); ++p)
      LoadRow(walk, p, values.data() + p * walk.row_elements());
    return values;
  }
  static std::vector<float> Read(Tensor* tensor) { return Read(All(tensor)); }

 private:
  Core core_;
};

}  // namespace wt::chip
