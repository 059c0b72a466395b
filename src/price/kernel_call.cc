#include "price/kernel_call.h"

#include <cmath>
#include <cstring>

#include "base/text_util.h"
#include "nn/model_config.h"
#include "nn/optimizer.h"

namespace wt::price {
namespace {

constexpr int64_t kSliceRows = 2048;

nn::ValueId OperandOf(const nn::Node& node, const KernelOperand& operand) {
  const auto& ids = operand.output ? node.outputs : node.inputs;
  return operand.index < ids.size() ? ids[operand.index] : nn::kNoValue;
}

const KernelOperand* FirstSliced(const nn::Node& node, const KernelRow& row) {
  for (const KernelOperand& operand : row.args) {
    if (operand.sliced() && OperandOf(node, operand) != nn::kNoValue) return &operand;
  }
  return nullptr;
}

int64_t ExtentIn(const nn::Shape& shape, Layout layout) {
  if (layout == Layout::kBatch) return shape[0];
  if (layout == Layout::kColumn) return nn::NumElements(shape);
  return nn::NumElements(shape) / shape.back();
}

// `shape` with `extent` of its rows; the axes before are 1.
nn::Shape Cut(nn::Shape shape, Layout layout, int64_t extent) {
  if (layout == Layout::kBatch) {
    shape[0] = extent;
    return shape;
  }
  const size_t fixed = layout == Layout::kColumn ? 0 : 1;
  if (shape.size() <= fixed) return shape;
  const size_t axis = shape.size() - 1 - fixed;
  for (size_t i = 0; i < axis; ++i) shape[i] = 1;
  shape[axis] = extent;
  return shape;
}

// How an operand of the node is cut; null: not at all.
const KernelOperand* CutOf(const nn::StepProgram& program, const nn::Node& node,
                           const KernelRow& row, bool output, size_t index) {
  for (const KernelOperand& operand : row.args) {
    if (operand.derived != Derived::kNone || operand.output != output || operand.index != index) {
      continue;
    }
    return operand.sliced() ? &operand : nullptr;
  }
  if (!output) return nullptr;
  // An output that is no argument is cut as the operand that it is shaped like.
  const KernelOperand* first = FirstSliced(node, row);
  const bool alike = first && program.value(OperandOf(node, *first)).shape ==
                                  program.value(node.outputs[index]).shape;
  return alike ? first : nullptr;
}

nn::Value CutValue(const nn::StepProgram& program, const nn::Node& node, const KernelRow& row,
                   bool output, size_t index, int64_t extent) {
  const auto& ids = output ? node.outputs : node.inputs;
  nn::Value value = program.value(ids[index]);
  const KernelOperand* cut = extent > 0 ? CutOf(program, node, row, output, index) : nullptr;
  if (cut) value.shape = Cut(value.shape, cut->layout, extent);
  return value;
}

nn::Shape KernelShape(const nn::Shape& shape, Layout layout) {
  switch (layout) {
    case Layout::kRows:
      return {nn::NumElements(shape) / shape.back(), shape.back()};
    case Layout::kColumn:
      return {nn::NumElements(shape), 1};
    case Layout::kAt:
      return {1, 1};
    case Layout::kBatch:
      return shape;
    case Layout::kWhole:
      break;
  }
  return shape.size() == 1 ? nn::Shape{1, shape[0]} : shape;
}

// An array of floats of which only the bytes may be missing.
nki::HostArray FloatArray(nn::Shape shape, const std::vector<float>& values) {
  nki::HostArray array{DType::kF32, std::move(shape), {}, nullptr};
  array.bytes.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

// Makes arguments of one cut node.
class ArgMaker {
 public:
  ArgMaker(const nn::StepProgram& cut, const ValueBytes* bytes)
      : cut_(cut), node_(cut.nodes[0]), bytes_(bytes) {}

  nki::HostArray Plain(const KernelOperand& operand) const {
    const nn::ValueId id = OperandOf(node_, operand);
    const nn::Value& value = cut_.value(id);
    nki::HostArray array{value.dtype, KernelShape(value.shape, operand.layout), {}, nullptr};
    if (!bytes_) return array;
    const auto& from = (*bytes_)[static_cast<size_t>(id)];
    size_t offset = 0, size = from.size();
    if (operand.layout == Layout::kAt) {
      size = static_cast<size_t>(DTypeBytes(value.dtype));
      offset = size * static_cast<size_t>(ElementAt(node_, value));
    }
    array.bytes.resize(size);
    std::memcpy(array.bytes.data(), from.data() + offset, size);
    return array;
  }

  Result<nki::HostArray> Made(Derived derived) const {
    switch (derived) {
      case Derived::kLike0: {
        nki::HostArray array{cut_.value(node_.outputs[0]).dtype, {1, 1}, {}, nullptr};
        if (bytes_) array.bytes.resize(static_cast<size_t>(DTypeBytes(array.dtype)));
        return array;
      }
      case Derived::kRopeCos:
      case Derived::kRopeSin:
        return Angles(derived == Derived::kRopeCos);
      case Derived::kLossShare:
        return LossShare();
      case Derived::kAdamwNumbers:
        return FloatArray({1, 8}, AdamwNumbers());
      case Derived::kMuonNumbers:
        return FloatArray({1, 4}, MuonNumbers());
      case Derived::kMuonMoment:
      case Derived::kNone:
        break;
    }
    return MuonMoment();
  }

 private:
  std::vector<float> Floats(nn::ValueId id) const {
    const auto& from = (*bytes_)[static_cast<size_t>(id)];
    std::vector<float> values(from.size() / sizeof(float));
    std::memcpy(values.data(), from.data(), from.size());
    return values;
  }
  nki::HostArray Angles(bool cosine) const {
    const int64_t time = cut_.value(node_.inputs[0]).shape[1];
    const int64_t head_dim = node_.attrs.Int("head_dim"), half = head_dim / 2;
    std::vector<float> values;
    if (bytes_) values.reserve(static_cast<size_t>(time * half));
    for (int64_t t = 0; bytes_ && t < time; ++t) {
      for (int64_t i = 0; i < half; ++i) {
        const double power = -2.0 * static_cast<double>(i) / static_cast<double>(head_dim);
        const double angle = static_cast<double>(t) * std::pow(node_.attrs.Real("base"), power);
        values.push_back(static_cast<float>(cosine ? std::cos(angle) : std::sin(angle)));
      }
    }
    return FloatArray({time, half}, values);
  }
  Result<nki::HostArray> LossShare() const {
    const nn::Value& weights = cut_.value(node_.inputs[3]);
    if (nn::NumElements(weights.shape) != 1) {
      return Error(Code::kUnsupported, "{} targets a token; the kernel has one",
                   nn::NumElements(weights.shape));
    }
    if (!bytes_) return FloatArray({1, 1}, {});
    const auto& targets = (*bytes_)[static_cast<size_t>(node_.inputs[2])];
    std::vector<int32_t> ids(targets.size() / sizeof(int32_t));
    std::memcpy(ids.data(), targets.data(), targets.size());
    const auto count = std::count_if(ids.begin(), ids.end(), [](int32_t id) { return id >= 0; });
    return FloatArray({1, 1}, {Floats(node_.inputs[3])[0] / static_cast<float>(count)});
  }
  std::vector<float> AdamwNumbers() const {
    if (!bytes_) return {};
    const std::vector<float> hyper = Floats(node_.inputs[2]);
    const auto at = [&](nn::HyperIndex i) -> double { return hyper[static_cast<size_t>(i)]; };
    const double beta1 = at(nn::HyperIndex::kBeta1), beta2 = at(nn::HyperIndex::kBeta2);
    const double lr = at(nn::HyperIndex::kLr), step = at(nn::HyperIndex::kStep);
    const double decay = at(nn::HyperIndex::kWeightDecay);
    const double bias1 = 1 - std::pow(beta1, step), bias2 = 1 - std::pow(beta2, step);
    std::vector<float> numbers;
    for (const double number : {1 - beta1, std::sqrt(1 - beta2), beta1, beta2, 1 / bias2,
                                node_.attrs.Real("eps"), -lr / bias1, 1 - lr * decay}) {
      numbers.push_back(static_cast<float>(number));
    }
    return numbers;
  }
  std::vector<float> MuonNumbers() const {
    if (!bytes_) return {};
    const std::vector<float> hyper = Floats(node_.inputs[2]);
    const auto at = [&](nn::HyperIndex i) { return hyper[static_cast<size_t>(i)]; };
    return {at(nn::HyperIndex::kLr), at(nn::HyperIndex::kBeta1), at(nn::HyperIndex::kBeta2),
            at(nn::HyperIndex::kWeightDecay)};
  }
  nki::HostArray MuonMoment() const {
    const nn::Shape& weight = cut_.value(node_.outputs[0]).shape;
    KernelOperand operand{"", Derived::kNone, true, 2, Layout::kWhole};
    if (weight[0] >= weight[1]) operand.layout = Layout::kColumn;
    return Plain(operand);
  }

  const nn::StepProgram& cut_;
  const nn::Node& node_;
  const ValueBytes* bytes_;
};

Status CheckCovered(const nn::Node& node, const KernelRow& row) {
  for (const auto& [name, wanted] : row.only) {
    if (node.attrs.Int(name) == wanted) continue;
    return Error(Code::kUnsupported, "{} is {}; the kernel is for {}", name, node.attrs.Int(name),
                 wanted);
  }
  for (const std::string& name : row.positive) {
    if (node.attrs.Real(name) > 0) continue;
    return Error(Code::kUnsupported, "{} is 0; the kernel needs one", name);
  }
  return {};
}

std::string Literal(const nn::Attrs::Entry& entry) {
  if (const auto* text = std::get_if<std::string>(&entry)) return *text;
  if (const auto* number = std::get_if<int64_t>(&entry)) return fmt::format("{}", *number);
  return fmt::format("{}", std::get<double>(entry));
}

}  // namespace

int64_t ExtentOf(const nn::StepProgram& program, const nn::Node& node, const KernelRow& row) {
  const KernelOperand* first = FirstSliced(node, row);
  if (!first) return 0;
  return ExtentIn(program.value(OperandOf(node, *first)).shape, first->layout);
}

int64_t SliceOf(const nn::StepProgram& program, const nn::Node& node, const KernelRow& row) {
  const KernelOperand* first = FirstSliced(node, row);
  if (!first || first->layout != Layout::kBatch) return kSliceRows;
  const nn::Shape& shape = program.value(OperandOf(node, *first)).shape;
  return std::max<int64_t>(1, kSliceRows / 2 / shape[1]);
}

Result<nn::StepProgram> CutNode(const nn::StepProgram& program, const nn::Node& node,
                                const KernelRow& row, int64_t extent) {
  nn::StepProgram cut;
  nn::Node copy = node;
  const auto add = [&](nn::Value value) {
    cut.values.push_back(std::move(value));
    return static_cast<nn::ValueId>(cut.values.size() - 1);
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == nn::kNoValue) continue;
    copy.inputs[i] = add(CutValue(program, node, row, false, i, extent));
  }
  WT_ASSIGN_OR_RETURN(const std::vector<nn::ValueSpec> made,
                      node.op->infer(nn::OpCall(cut, copy.attrs, copy.inputs)));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    nn::Value value = i < made.size() ? program.value(node.outputs[i])
                                      : CutValue(program, node, row, true, i, extent);
    if (i < made.size()) static_cast<nn::ValueSpec&>(value) = made[i];
    copy.outputs[i] = add(std::move(value));
  }
  cut.nodes.push_back(std::move(copy));
  return cut;
}

Result<std::vector<nki::KernelArg>> KernelArgsOf(const nn::StepProgram& cut, const KernelRow& row,
                                                 const ValueBytes* bytes) {
  const nn::Node& node = cut.nodes[0];
  WT_RETURN_IF_ERROR(CheckCovered(node, row));
  const ArgMaker maker(cut, bytes);
  std::vector<nki::KernelArg> args;
  for (const KernelOperand& operand : row.args) {
    if (operand.derived != Derived::kNone) {
      WT_ASSIGN_OR_RETURN(nki::HostArray array, maker.Made(operand.derived));
      args.push_back({operand.name, std::move(array)});
    } else if (OperandOf(node, operand) != nn::kNoValue) {
      args.push_back({operand.name, maker.Plain(operand)});
    }
  }
  for (const std::string& name : row.attrs) {
    args.push_back({name, Literal(node.attrs.entries().at(name))});
  }
  for (const std::string& name : row.flags) {
    args.push_back({name, std::string(node.attrs.Int(name) ? "True" : "False")});
  }
  for (const std::string& name : row.kinds) {
    const auto kind = static_cast<nn::Activation>(node.attrs.Int(name));
    args.push_back({name, std::string(nn::ActivationName(kind))});
  }
  return args;
}

int64_t ElementAt(const nn::Node& node, const nn::Value& value) {
  const int64_t index = node.attrs.Has("index") ? node.attrs.Int("index") : 0;
  return index < nn::NumElements(value.shape) ? index : 0;
}

std::string ArgsText(const std::vector<nki::KernelArg>& args) {
  std::vector<std::string> parts;
  for (const nki::KernelArg& arg : args) {
    const auto* array = std::get_if<nki::HostArray>(&arg.value);
    parts.push_back(array ? fmt::format("{}={}:{}", arg.name, fmt::join(array->shape, "x"),
                                        DTypeName(array->dtype))
                          : fmt::format("{}={}", arg.name, std::get<std::string>(arg.value)));
  }
  return Join(parts, " ");
}

}  // namespace wt::price
