#include "laws.h"

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "base/text_util.h"
#include "chip/cost/rules.h"
#include "chip/isa/params.h"

namespace wt::chip {
namespace {

constexpr size_t kColumns = 15;

MeasuredInstr FromCells(const std::vector<std::string>& cells, int line) {
  MeasuredInstr row;
  row.line = line;
  row.instruction = cells[0];
  row.engine = cells[1];
  row.variant = cells[2];
  row.src_dtype = cells[3];
  row.dst_dtype = cells[4];
  row.memory = cells[5];
  row.partitions = std::atoi(cells[6].c_str());
  row.elements = std::atoi(cells[7].c_str());
  row.quantity = cells[8];
  row.limited = cells[9] == "1";
  row.ahead = std::atof(cells[10].c_str());
  row.held = cells[11] == "1";
  row.measured_ns = std::atof(cells[12].c_str());
  row.source = cells[13];
  row.note = cells[14];
  return row;
}

// Which parameters of an instruction are tiles of `elements` a partition.
struct Tiles {
  const char* instruction;
  int dst;
  std::vector<int> srcs;
};

const Tiles* FindTiles(const std::string& instruction) {
  using namespace isa;
  static const std::vector<Tiles> tiles = {
      {"tensor_copy", tensor_copy::kDst, {tensor_copy::kSrc}},
      {"tensor_copy_predicated",
       tensor_copy_predicated::kDst,
       {tensor_copy_predicated::kSrc, tensor_copy_predicated::kPredicate}},
      {"memset", memset::kDst, {}},
      {"tensor_tensor", tensor_tensor::kDst, {tensor_tensor::kData1, tensor_tensor::kData2}},
      {"tensor_scalar", tensor_scalar::kDst, {tensor_scalar::kData}},
      {"tensor_reduce", tensor_reduce::kDst, {tensor_reduce::kData}},
      {"tensor_tensor_scan",
       tensor_tensor_scan::kDst,
       {tensor_tensor_scan::kData0, tensor_tensor_scan::kData1}},
      {"reciprocal", reciprocal::kDst, {reciprocal::kData}},
      {"nc_stream_shuffle", nc_stream_shuffle::kDst, {nc_stream_shuffle::kSrc}},
      {"affine_select", affine_select::kDst, {affine_select::kOnTrueTile}},
      {"activation", activation::kDst, {activation::kData}},
      {"nc_transpose", nc_transpose::kDst, {nc_transpose::kData}},
      {"nc_matmul", nc_matmul::kDst, {nc_matmul::kMoving, nc_matmul::kStationary}},
      {"dma_copy", dma_copy::kDst, {dma_copy::kSrc}},
      {"register_move", register_move::kDst, {register_move::kSrc}},
  };
  const auto found = std::find_if(tiles.begin(), tiles.end(),
                                  [&](const Tiles& row) { return instruction == row.instruction; });
  return found == tiles.end() ? nullptr : &*found;
}

// An instruction as the row describes it; its tensors have no bytes.
class RowInstr {
 public:
  Status Build(const Machine& machine, const MeasuredInstr& row, const Tiles& tiles) {
    WT_ASSIGN_OR_RETURN(const DType src, DTypeOrF32(row.src_dtype));
    WT_ASSIGN_OR_RETURN(const DType dst, DTypeOrF32(row.dst_dtype));
    const Memory memory = row.memory == "psum" ? Memory::kPsum : Memory::kSbuf;
    for (const int param : tiles.srcs) Add(param, memory, src, row.partitions, row.elements);
    Add(tiles.dst, Memory::kSbuf, dst, row.partitions, row.elements);
    return Specialise(machine, row);
  }
  const Instr& instr() const { return instr_; }

 private:
  static Result<DType> DTypeOrF32(const std::string& name) {
    return name.empty() ? Result<DType>(DType::kF32) : ParseDType(name);
  }

  void Add(int param, Memory memory, DType dtype, int64_t partitions, int64_t elements) {
    tensors_.push_back(std::make_unique<Tensor>());
    tensors_.back()->memory = memory;
    AccessPattern pattern;
    pattern.tensor = tensors_.back().get();
    pattern.dtype = dtype;
    pattern.num_dims = 2;
    pattern.dims[0] = {1, partitions};
    pattern.dims[1] = {1, elements};
    Arg& arg = instr_.args[static_cast<size_t>(param)];
    arg.kind = Arg::kOperand;
    arg.i = static_cast<int64_t>(instr_.operands.size());
    instr_.operands.push_back(pattern);
  }

  AccessPattern& operand(int param) {
    return instr_.operands[static_cast<size_t>(instr_.args[static_cast<size_t>(param)].i)];
  }

  // What single instructions need besides tiles.
  Status Specialise(const Machine& machine, const MeasuredInstr& row) {
    if (row.variant.starts_with("step ")) {
      operand(FindTiles(row.instruction)->srcs[0]).dims[1].step =
          std::atoi(row.variant.c_str() + sizeof("step"));
    }
    if (row.instruction == "nc_matmul") {
      operand(isa::nc_matmul::kStationary).dims[1].size = machine.max_stationary;
    } else if (row.instruction == "memset") {
      instr_.args[isa::memset::kValue].kind = Arg::kFloat;
      instr_.args[isa::memset::kValue].f = 1;
    } else if (row.variant == "switch") {
      operand(isa::nc_transpose::kDst).start_partition = row.partitions;
    } else if (row.variant == "tensor seed") {
      Add(isa::tensor_tensor_scan::kInitial, Memory::kSbuf, DType::kF32, row.partitions, 1);
    } else if (row.instruction == "activation") {
      return ChooseFunction(row);
    }
    return {};
  }

  // "exp", or "copy + bias".
  Status ChooseFunction(const MeasuredInstr& row) {
    const size_t end = std::min(row.variant.find(' '), row.variant.size());
    if (end != row.variant.size()) {
      Add(isa::activation::kBias, Memory::kSbuf, DType::kF32, row.partitions, 1);
    }
    const std::string name = row.variant.substr(0, end);
    for (int i = 0; i < static_cast<int>(Activation::kCount); ++i) {
      if (name != ActivationName(Activation(i))) continue;
      instr_.args[isa::activation::kOp].kind = Arg::kName;
      instr_.args[isa::activation::kOp].i = i;
      return {};
    }
    return Error(Code::kInvalidArgument, "line {}: {} is not a function", row.line, name);
  }

  Instr instr_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
};

Engine EngineOf(const std::string& name) {
  for (int i = 0; i < kNumEngines; ++i) {
    if (name == EngineName(Engine(i))) return Engine(i);
  }
  return Engine::kUnknown;
}

Status NoSuchName(const MeasuredInstr& row) {
  return Error(Code::kInvalidArgument, "line {}: {} is not an instruction, law or constant here",
               row.line, row.instruction);
}

// One constant, or the sum of several: "dma.load_dispatch_ns + dma.load_notify_ns".
Result<Predicted> PredictConstant(const Machine& machine, const MeasuredInstr& row) {
  Predicted sum{0, Evidence::kMeasured};
  for (const std::string& part : SplitText(row.instruction, '+')) {
    const size_t begin = part.find_first_not_of(' ');
    const std::string id = part.substr(begin, part.find_last_not_of(' ') + 1 - begin);
    const auto found = std::find_if(machine.constants.begin(), machine.constants.end(),
                                    [&](const Constant& constant) { return constant.id == id; });
    if (found == machine.constants.end()) return NoSuchName(row);
    sum.ns += found->value;
    sum.evidence = std::max(sum.evidence, found->origin.evidence);
  }
  return sum;
}

// A cost seen as `row` was measured. The tensor engine's neighbours show: its rate under the power
// limit, what was ahead, weights that did not hide.
Predicted Seen(const Machine& machine, const MeasuredInstr& row, const Cost& cost) {
  const double slowdown = row.limited ? machine.constant(ConstantId::kLimiterSlowdown) : 1;
  const double interval = cost.interval_ns * slowdown;
  if (row.quantity == "issue") return {std::max(interval, cost.weight_load_ns), cost.evidence};
  const double behind = cost.latency_ns - cost.interval_ns;
  const double weights = row.quantity == "first_completion"
                             ? cost.weight_load_ns
                             : std::max(0.0, cost.weight_load_ns - interval);
  return {(1 + row.ahead) * interval + behind + weights, cost.evidence};
}

}  // namespace

std::string MeasuredInstr::Describe() const {
  std::string text = instruction;
  if (!variant.empty()) text += " " + variant;
  if (!src_dtype.empty()) {
    text += " " + src_dtype + (src_dtype == dst_dtype ? "" : " to " + dst_dtype);
  }
  if (memory == "psum") text += " from psum";
  if (!engine.empty()) text += ", " + engine;
  if (elements > 0) text += fmt::format(", [{}, {}]", partitions, elements);
  return text + ": " + (limited ? "limited " : "") + quantity;
}

Result<std::vector<MeasuredInstr>> ReadMeasuredInstrs(const std::string& path) {
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<MeasuredInstr> rows;
  int number = 0;
  for (const std::string& line : SplitText(text, '\n')) {
    ++number;
    if (line.empty() || line[0] == '#' || line.starts_with("instruction,")) continue;
    const auto cells = SplitText(line, ',');
    if (cells.size() != kColumns || !(std::atof(cells[12].c_str()) > 0)) {
      return Error(Code::kCorrupt, "{}:{}: expected {} cells and a measured time", path, number,
                   kColumns);
    }
    rows.push_back(FromCells(cells, number));
  }
  return rows;
}

Result<Predicted> Predict(const Machine& machine, const MeasuredInstr& row) {
  if (row.quantity == "constant") return PredictConstant(machine, row);
  for (const Law& law : machine.laws) {
    if (law.id != row.instruction) continue;
    const bool issue = row.quantity == "issue";
    return Predicted{issue ? law.Interval(row.elements) : law.Completion(row.elements),
                     law.origin.evidence};
  }
  const cost::CostRule* rule = cost::FindCostRule(row.instruction);
  const Tiles* tiles = FindTiles(row.instruction);
  if (!rule || !tiles) return NoSuchName(row);
  RowInstr built;
  WT_RETURN_IF_ERROR(built.Build(machine, row, *tiles));
  return Seen(machine, row, rule->function(machine, built.instr(), EngineOf(row.engine)));
}

}  // namespace wt::chip
