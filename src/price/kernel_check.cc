#include "price/kernel_check.h"

#include <cmath>
#include <cstring>

#include "base/text_util.h"
#include "nki/run_kernel.h"
#include "nn/optimizer.h"
#include "price/kernel_call.h"

namespace wt::price {
namespace {

nki::HostArray RandomValue(const nn::Value& value, uint64_t seed, size_t index) {
  nki::HostArray array{value.dtype, value.shape, {}, nullptr};
  nki::FillRandom(&array, seed, fmt::format("value{}", index));
  return array;
}

void EachFloat(std::vector<std::byte>* bytes, float (*change)(float)) {
  for (size_t at = 0; at + sizeof(float) <= bytes->size(); at += sizeof(float)) {
    float x;
    std::memcpy(&x, bytes->data() + at, sizeof x);
    x = change(x);
    std::memcpy(bytes->data() + at, &x, sizeof x);
  }
}

// What must not be any number: second moments are squares, hyper inputs have their own ranges, and
// the logarithm of a sum of exponentials exceeds each of them.
void MakePlausible(const nn::Node& node, ValueBytes* bytes) {
  const std::string op = node.op->name;
  const auto of = [&](nn::ValueId id) { return &(*bytes)[static_cast<size_t>(id)]; };
  if (op == "adamw" || op == "muon") {
    const std::array<float, nn::kHyperSize> hyper = {0.01f, 0.9f, 0.95f, 0.1f, 3.0f};
    std::memcpy(of(node.inputs[2])->data(), hyper.data(), sizeof hyper);
    EachFloat(of(node.outputs[2]), [](float x) { return std::abs(x); });
  }
  if (op == "attention_grad") EachFloat(of(node.inputs[5]), [](float x) { return 8 + x; });
}

// Random values for all that the op reads; outputs that the kernel does not take start at 0, as it
// gives what the host adds to them.
ValueBytes MakeValues(const nn::StepProgram& cut, const KernelRow& row, uint64_t seed) {
  const nn::Node& node = cut.nodes[0];
  ValueBytes bytes(cut.values.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i].assign(static_cast<size_t>(cut.values[i].bytes()), std::byte{0});
  }
  const auto fill = [&](nn::ValueId id) {
    const auto index = static_cast<size_t>(id);
    const nki::HostArray array = RandomValue(cut.value(id), seed, index);
    std::memcpy(bytes[index].data(), array.bytes.data(), bytes[index].size());
  };
  for (const nn::ValueId id : node.inputs) {
    if (id != nn::kNoValue) fill(id);
  }
  for (const KernelOperand& operand : row.args) {
    const bool moment = operand.derived == Derived::kMuonMoment;
    if (moment) fill(node.outputs[2]);
    if (operand.derived == Derived::kNone && operand.output) fill(node.outputs[operand.index]);
  }
  MakePlausible(node, &bytes);
  return bytes;
}

void RunHost(const nn::StepProgram& cut, ValueBytes* bytes) {
  const nn::Node& node = cut.nodes[0];
  std::vector<void*> memory;
  for (auto& value : *bytes) memory.push_back(value.data());
  const nn::OpCall call(cut, node.attrs, node.inputs, node.outputs);
  std::vector<std::byte> scratch(
      node.op->scratch_bytes ? static_cast<size_t>(node.op->scratch_bytes(call)) : 0);
  node.op->run(nn::RunContext(cut, node, memory, scratch));
}

// A host output as the kernel's result of the same place.
nki::HostArray Expected(const nn::StepProgram& cut, const KernelOperand& give,
                        const ValueBytes& bytes, const nki::HostArray& result) {
  const nn::Node& node = cut.nodes[0];
  const nn::ValueId id = node.outputs[give.index];
  const nn::Value& value = cut.value(id);
  const auto& from = bytes[static_cast<size_t>(id)];
  size_t offset = 0, size = from.size();
  nki::HostArray array{value.dtype, value.shape, {}, nullptr};
  if (give.layout == Layout::kAt) {
    size = static_cast<size_t>(DTypeBytes(value.dtype));
    offset = size * static_cast<size_t>(ElementAt(node, value));
    array.shape = {1, 1};
  }
  array.bytes.resize(size);
  std::memcpy(array.bytes.data(), from.data() + offset, size);
  if (array.elements() == result.elements()) array.shape = result.shape;
  return array;
}

Status Wrong(const KernelCheck& check, const nki::KernelOutput& output,
             const nki::Comparison& comparison, const std::string& args) {
  return Error(Code::kMismatch,
               "{} is not what the host op {} gives: with {}, {} of {} elements of {} are wrong; "
               "the first is {}: {:.7g} instead of {:.7g}",
               check.kernel, check.node.op->name, args, comparison.wrong, output.array.elements(),
               output.name, nki::IndexText(output.array.shape, *comparison.first),
               comparison.result, comparison.reference);
}

}  // namespace

nki::Tolerance ToleranceOf(const nn::StepProgram& program, const nn::Node& node) {
  const nn::OpCall call(program, node.attrs, node.inputs, node.outputs);
  const nn::Work work = node.op->work(call);
  bool coarse = work.matmul_flops > 0 && work.matmul_dtype == DType::kBF16;
  for (const nn::ValueId id : node.inputs) {
    coarse = coarse || (id != nn::kNoValue && program.value(id).dtype == DType::kBF16);
  }
  for (const nn::ValueId id : node.outputs) {
    coarse = coarse || program.value(id).dtype == DType::kBF16;
  }
  return coarse ? nki::Tolerance{0, 2e-2, 1e-2} : nki::Tolerance{0, 1e-3, 1e-4};
}

Result<std::string> CheckKernel(const KernelCheck& check) {
  const int64_t all = ExtentOf(check.program, check.node, check.row);
  WT_ASSIGN_OR_RETURN(const nn::StepProgram cut,
                      CutNode(check.program, check.node, check.row, std::min(all, check.extent)));
  ValueBytes bytes = MakeValues(cut, check.row, check.seed);
  WT_ASSIGN_OR_RETURN(const auto name, nki::SplitKernelName(check.kernel));
  nki::KernelRun run;
  run.file = KernelPath(name.first);
  run.function = name.second;
  WT_ASSIGN_OR_RETURN(run.args, KernelArgsOf(cut, check.row, &bytes));
  const std::string args = ArgsText(run.args);
  const auto result = nki::RunKernel(run);
  if (!result.ok()) {
    return result.status().WithContext(fmt::format("{} with {}", check.kernel, args));
  }
  RunHost(cut, &bytes);
  if (result->outputs.size() != check.row.gives.size()) {
    return Error(Code::kMismatch, "{} gives {} results; expected {}, as the op {} has",
                 check.kernel, result->outputs.size(), check.row.gives.size(), check.node.op->name);
  }
  const nki::Tolerance tolerance = ToleranceOf(cut, cut.nodes[0]);
  double most = 0;
  for (size_t i = 0; i < check.row.gives.size(); ++i) {
    const nki::KernelOutput& output = result->outputs[i];
    const nki::HostArray right = Expected(cut, check.row.gives[i], bytes, output.array);
    auto comparison = nki::Compare(output.array, right, tolerance);
    if (!comparison.ok()) {
      return comparison.status().WithContext(
          fmt::format("{} of {} with {}", output.name, check.kernel, args));
    }
    if (comparison->first) return Wrong(check, output, *comparison, args);
    most = std::max(most, comparison->max_error);
  }
  return fmt::format("{}: {} agrees with the host op on {}: error at most {:.2g}",
                     check.node.op->name, check.kernel, args, most);
}

}  // namespace wt::price
