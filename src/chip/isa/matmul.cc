// nc_matmul: dst[M, N] (+)= stationary[K, M]^T moving[K, N] on the Tensor engine, and its transpose
// mode. array_product.h multiplies; here are the rules, the element types and PSUM accumulation.
#include <algorithm>

#include "chip/array_product.h"
#include "chip/bytes.h"
#include "chip/convert.h"
#include "chip/cost_rules.h"
#include "chip/error_class.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/psum.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace nc_matmul {
namespace {

constexpr DTypeSet kOperandTypes = Types({DType::kF32, DType::kTF32, DType::kBF16, DType::kF16,
                                          DType::kF8E4M3, DType::kF8E4M3FN, DType::kF8E5M2});
constexpr Param kParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInPsum, kComputeTypes},
    {"stationary", ParamKind::kSrc, nullptr, kInSbuf, kOperandTypes},
    {"moving", ParamKind::kSrc, nullptr, kInSbuf, kOperandTypes},
    {"is_stationary_onezero", ParamKind::kBool, "False"},
    {"is_moving_onezero", ParamKind::kBool, "False"},
    {"is_transpose", ParamKind::kBool, "False"},
    {"accumulate", ParamKind::kBool, "None"},
    {"tile_position", ParamKind::kInts, "()"},
    {"tile_size", ParamKind::kInts, "()"},
    {"perf_mode", ParamKind::kPerfMode, "none"},
    {"name", ParamKind::kString, "None"},
};

bool IsF8(DType dtype) {
  return dtype == DType::kF8E4M3 || dtype == DType::kF8E4M3FN || dtype == DType::kF8E5M2;
}
bool Is32Bit(DType dtype) { return dtype == DType::kF32 || dtype == DType::kTF32; }

bool IsDoubleRow(const Instr& instr) {
  return instr.name_of<PerfMode>(kPerfMode) == PerfMode::kDoubleRow;
}

// Transpose mode of NeuronCore-v3: moves bits. Before, it was an ordinary product.
bool MovesBits(const Machine& machine, const Instr& instr) {
  return instr.flag(kIsTranspose) && machine.generation >= Generation::kGen3;
}

// legality

Status CheckTypes(const Machine& machine, const Instr& instr) {
  const DType a = instr.operand(kStationary).dtype, b = instr.operand(kMoving).dtype;
  if (Is32Bit(a) != Is32Bit(b))
    return KernelError(
        ErrorClass::kDtype,
        "nc_matmul: stationary is {}, moving {}; 32-bit types do not mix with others", DTypeName(a),
        DTypeName(b));
  for (DType dtype : {a, b}) {
    if (dtype == DType::kF8E4M3FN && machine.generation < Generation::kGen4)
      return KernelError(ErrorClass::kGeneration, "nc_matmul: {} does not multiply {}",
                         machine.name, DTypeName(dtype));
  }
  if ((a == DType::kF8E4M3 && b == DType::kF8E4M3FN) ||
      (a == DType::kF8E4M3FN && b == DType::kF8E4M3))
    return KernelError(ErrorClass::kDtype, "nc_matmul: f8e4m3 and f8e4m3fn do not mix");
  return {};
}

Status CheckResultType(const Machine& machine, const Instr& instr) {
  const DType to = instr.operand(kDst).dtype;
  if (to == DType::kF32) return {};
  if (MovesBits(machine, instr)) {
    const DType from = instr.operand(kStationary).dtype;
    if (to == from || (IsF8(from) && DTypeBytes(to) == 2)) return {};
    return KernelError(ErrorClass::kDtype, "nc_matmul: dst is {}; transposing {} makes {} or f32",
                       DTypeName(to), DTypeName(from), IsF8(from) ? "16 bits" : DTypeName(from));
  }
  if (to == DType::kBF16 && machine.generation >= Generation::kGen4) return {};
  return KernelError(ErrorClass::kDtype, "nc_matmul: dst is {}; {} accumulates in f32",
                     DTypeName(to), machine.name);
}

struct Shape {
  int64_t k, m, n;  // k: rows of the array in use
};

Shape ShapeOf(const Instr& instr) {
  const AccessPattern& stationary = instr.operand(kStationary);
  const int64_t fold = IsDoubleRow(instr) ? 2 : 1;
  return {stationary.partitions(), stationary.free_elements() / fold,
          instr.operand(kMoving).free_elements() / fold};
}

Status CheckDoubleRow(const Machine& machine, const Instr& instr) {
  if (!IsDoubleRow(instr)) return {};
  if (machine.generation < Generation::kGen3)
    return KernelError(ErrorClass::kGeneration,
                       "nc_matmul: perf_mode double_row does not exist on {}", machine.name);
  for (int param : {int(kStationary), int(kMoving)}) {
    const AccessPattern& operand = instr.operand(param);
    if (!IsF8(operand.dtype))
      return KernelError(ErrorClass::kDtype,
                         "{} is {}; perf_mode double_row expects an 8-bit float",
                         OperandName(instr, param), DTypeName(operand.dtype));
    if (operand.num_dims < 3 || operand.dims[1].size != 2)
      return KernelError(ErrorClass::kShape,
                         "{}: perf_mode double_row expects [K, 2, n], its first free dimension 2",
                         OperandName(instr, param));
  }
  if (instr.flag(kIsTranspose))
    return KernelError(ErrorClass::kArgument,
                       "nc_matmul: perf_mode double_row and is_transpose exclude each other");
  return {};
}

struct Tile {
  int64_t rows, columns;
};

// The array is halved into tiles, down to the smallest that the machine knows.
Status CheckTileSide(const Machine& machine, const char* side, int64_t start, int64_t size) {
  const int64_t most = machine.partitions;
  std::string sizes;
  bool known = false;
  for (auto tile = static_cast<int64_t>(machine.constant(ConstantId::kMinTile)); tile <= most;
       tile *= 2) {
    known |= size == tile;
    sizes += fmt::format("{}{}", sizes.empty() ? "" : tile == most ? " or " : ", ", tile);
  }
  if (!known)
    return KernelError(ErrorClass::kArgument, "nc_matmul: tile_size has {} {}; expected {}", size,
                       side, sizes);
  if (start < 0 || start % size != 0 || start + size > most)
    return KernelError(ErrorClass::kArgument,
                       "nc_matmul: tile_position starts at {} {}; expected a multiple of {} inside "
                       "the array",
                       side, start, size);
  return {};
}

Result<Tile> TileOf(const Machine& machine, const Instr& instr) {
  const auto count = [&](int param) {
    return instr.has(param) ? instr.ints_of(param).size() : size_t{0};
  };
  if (count(kTilePosition) == 0 && count(kTileSize) == 0) {
    return Tile{machine.partitions, machine.partitions};
  }
  if (count(kTilePosition) != 2 || count(kTileSize) != 2)
    return KernelError(ErrorClass::kArgument,
                       "nc_matmul: tile_position and tile_size are both pairs, or both left out");
  const auto position = instr.ints_of(kTilePosition), size = instr.ints_of(kTileSize);
  WT_RETURN_IF_ERROR(CheckTileSide(machine, "rows", position[0], size[0]));
  WT_RETURN_IF_ERROR(CheckTileSide(machine, "columns", position[1], size[1]));
  if (IsDoubleRow(instr) && size[1] != machine.partitions)
    return KernelError(ErrorClass::kArgument,
                       "nc_matmul: perf_mode double_row uses all {} columns, tile_size has {}",
                       machine.partitions, size[1]);
  return Tile{size[0], size[1]};
}

Status CheckSizes(const Machine& machine, const Instr& instr) {
  WT_ASSIGN_OR_RETURN(const Tile tile, TileOf(machine, instr));
  const Shape shape = ShapeOf(instr);
  const AccessPattern& moving = instr.operand(kMoving);
  const AccessPattern& dst = instr.operand(kDst);
  if (moving.partitions() != shape.k)
    return KernelError(
        ErrorClass::kShape,
        "nc_matmul: stationary has {} partitions, moving {}; both hold the contracted "
        "dimension",
        shape.k, moving.partitions());
  if (shape.k > tile.rows || shape.m > std::min<int64_t>(tile.columns, machine.max_stationary))
    return KernelError(ErrorClass::kFreeSize,
                       "nc_matmul: stationary is [{}, {}]; the array (or its tile) takes [{}, {}]",
                       shape.k, shape.m, tile.rows, tile.columns);
  const int64_t most =
      machine.max_moving *
      (dst.dtype == DType::kBF16 && machine.generation >= Generation::kGen4 ? 2 : 1);
  if (shape.n > most)
    return KernelError(ErrorClass::kFreeSize,
                       "nc_matmul: moving has {} columns; expected at most {}", shape.n, most);
  if (dst.partitions() != shape.m || dst.free_elements() != shape.n)
    return KernelError(ErrorClass::kShape,
                       "nc_matmul: dst is [{}, {}]; stationary and moving make [{}, {}]",
                       dst.partitions(), dst.free_elements(), shape.m, shape.n);
  return {};
}

// Before NeuronCore-v4 one product goes to one bank.
Status CheckBank(const Machine& machine, const Instr& instr) {
  const AccessPattern& dst = instr.operand(kDst);
  if (machine.generation >= Generation::kGen4 || dst.elements() == 0) return {};
  auto [begin, end] = dst.ByteRange();
  const Tensor& tensor = *dst.tensor;
  const int64_t base = tensor.address ? tensor.address->byte : 0;
  if ((base + begin) / machine.psum_bank_bytes == (base + end - 1) / machine.psum_bank_bytes)
    return {};
  return KernelError(
      ErrorClass::kFreeSize,
      "nc_matmul: dst covers bytes {} to {} of a partition, in two PSUM banks of {}; "
      "keep it inside one",
      base + begin, base + end - 1, machine.psum_bank_bytes);
}

Status CheckMatmul(const Machine& machine, const Instr& instr) {
  WT_RETURN_IF_ERROR(CheckTypes(machine, instr));
  WT_RETURN_IF_ERROR(CheckResultType(machine, instr));
  WT_RETURN_IF_ERROR(CheckDoubleRow(machine, instr));
  if (MovesBits(machine, instr) && instr.flag(kAccumulate))
    return KernelError(ErrorClass::kArgument,
                       "nc_matmul: is_transpose moves bits and cannot accumulate");
  WT_RETURN_IF_ERROR(CheckSizes(machine, instr));
  return CheckBank(machine, instr);
}

// values

bool IsNarrow(DType dtype) { return dtype == DType::kBF16 || IsF8(dtype); }

// An operand as [rows, columns] for the product; double_row has two rows in each partition.
tensor::ConstMatrix OperandMatrix(ExecuteContext& context, int param, int64_t fold) {
  const Walk& walk = context.walk(param);
  const DType dtype = walk.pattern.dtype;
  const int64_t columns = walk.row_elements() / fold, rows = walk.rows() * fold;
  const bool in_place = (dtype == DType::kF32 || dtype == DType::kBF16) && walk.dense_rows() &&
                        fold == 1 && walk.pattern.dims[0].step == 1;
  if (in_place)
    return {
        walk.Row(0), dtype, rows, columns, walk.pattern.tensor->data_stride / DTypeBytes(dtype), 1};
  float* values = context.state().scratch.Floats(rows * columns);
  LoadRows(walk, 0, walk.rows(), values);
  if (dtype == DType::kTF32) std::transform(values, values + rows * columns, values, RoundToTF32);
  return {values, DType::kF32, rows, columns, columns, 1};
}

Status Multiply(ExecuteContext& context, const Instr& instr) {
  WT_ASSIGN_OR_RETURN(const bool accumulate, PsumAccumulates(context, kDst, kAccumulate));
  const bool narrow =
      IsNarrow(instr.operand(kStationary).dtype) && IsNarrow(instr.operand(kMoving).dtype);
  const int64_t fold = IsDoubleRow(instr) ? 2 : 1;
  const tensor::ConstMatrix a = OperandMatrix(context, kStationary, fold);
  const tensor::ConstMatrix b = OperandMatrix(context, kMoving, fold);
  const Walk& to = context.walk(kDst);
  const int64_t m = to.rows(), n = to.row_elements();
  MarkWritten(to, Writer::kMatmul);
  const bool in_place =
      to.pattern.dtype == DType::kF32 && to.dense_rows() && to.pattern.dims[0].step == 1;
  if (in_place) {
    const int64_t stride = to.pattern.tensor->data_stride / 4;
    ArrayProduct(a.Transposed(), b, {to.Row(0), DType::kF32, m, n, stride}, narrow, accumulate);
    return {};
  }
  float* result = context.state().scratch.Floats(m * n);
  if (accumulate) LoadRows(to, 0, m, result);
  ArrayProduct(a.Transposed(), b, {result, DType::kF32, m, n, n}, narrow, accumulate);
  StoreRows(to, 0, m, result);
  return {};
}

bool IsIdentity(const float* values, int64_t rows, int64_t columns) {
  bool other = false;
  for (int64_t k = 0; k < rows; ++k) {
    for (int64_t j = 0; j < columns; ++j)
      other |= values[k * columns + j] != (j == k ? 1.0f : 0.0f);
  }
  return !other;
}

// For each column of moving the row whose 1 it selects.
Result<std::vector<int64_t>> Selected(const float* moving, int64_t rows, int64_t columns) {
  std::vector<int64_t> selected(static_cast<size_t>(columns), -1);
  for (int64_t k = 0; k < rows; ++k) {
    for (int64_t j = 0; j < columns; ++j) {
      const float value = moving[k * columns + j];
      int64_t& row = selected[static_cast<size_t>(j)];
      if (value == 0) continue;
      if (value != 1 || row >= 0)
        return KernelError(ErrorClass::kUndefined,
                           "nc_matmul: moving column {} is not one of an identity matrix; "
                           "is_transpose moves bits and cannot add",
                           j);
      row = k;
    }
  }
  return selected;
}

// Rows of `from` in the order that moving selects them; zeros where it selects none.
Result<std::vector<std::byte>> SelectedRows(ExecuteContext& context, const Walk& from) {
  const Walk& moving = context.walk(kMoving);
  const int64_t rows = moving.rows(), columns = moving.row_elements();
  float* values = context.state().scratch.Floats(rows * columns);
  LoadRows(moving, 0, rows, values);
  const auto row_bytes = static_cast<size_t>(from.row_elements() * DTypeBytes(from.pattern.dtype));
  std::vector<std::byte> data(static_cast<size_t>(rows) * row_bytes);
  GatherBytes(from, data.data());
  if (rows == columns && IsIdentity(values, rows, columns)) return data;
  WT_ASSIGN_OR_RETURN(const std::vector<int64_t> selected, Selected(values, rows, columns));
  std::vector<std::byte> out(static_cast<size_t>(columns) * row_bytes);
  for (size_t j = 0; j < selected.size(); ++j) {
    if (selected[j] < 0) continue;
    const std::byte* row = data.data() + static_cast<size_t>(selected[j]) * row_bytes;
    std::copy_n(row, row_bytes, out.data() + j * row_bytes);
  }
  return out;
}

// dst[m, j] = stationary[selected by column j, m], bit by bit; into a wider type, bits widen with
// zeros above and numbers keep their value.
Status Transpose(ExecuteContext& context) {
  const Walk& to = context.walk(kDst);
  const Walk& from = context.walk(kStationary);
  const int64_t n = to.row_elements(), m = to.rows();
  const DType dtype = from.pattern.dtype;
  WT_ASSIGN_OR_RETURN(const std::vector<std::byte> rows, SelectedRows(context, from));
  std::vector<std::byte> out(rows.size());
  TransposeElements(rows.data(), n, m, DTypeBytes(dtype), out.data());
  if (DTypeBytes(dtype) == DTypeBytes(to.pattern.dtype)) {
    ScatterBytes(to, out.data());
    MarkWritten(to);
  } else if (to.pattern.dtype == DType::kF32) {
    std::vector<float> wide(static_cast<size_t>(m * n));
    LoadFloats(dtype, out.data(), 1, m * n, wide.data());
    context.WriteFloats(kDst, wide);
  } else {
    std::vector<uint32_t> wide(static_cast<size_t>(m * n));
    LoadBits(dtype, out.data(), 1, m * n, wide.data());
    context.WriteBits(kDst, wide);
  }
  return {};
}

Status ExecuteMatmul(ExecuteContext& context, const Instr& instr) {
  if (instr.operand(kDst).elements() == 0) return {};
  return MovesBits(context.machine(), instr) ? Transpose(context) : Multiply(context, instr);
}

}  // namespace
}  // namespace nc_matmul

const InstrDef kNcMatmul = {
    .name = "nc_matmul",
    .summary =
        "dst[M, N] = stationary[K, M] transposed times moving[K, N], K along the partitions. "
        "Products of bf16, f16, tf32 and 8-bit floats are exact, sums are fp32. accumulate adds to "
        "what earlier matmuls left in dst (None: when there is something). is_transpose moves the "
        "bits of stationary past an identity matrix in moving; perf_mode double_row contracts two "
        "rows a partition of 8-bit floats.",
    .params = nc_matmul::kParams,
    .engines = {Engine::kTensor},
    .default_engine = Engine::kTensor,
    .check = nc_matmul::CheckMatmul,
    .execute = nc_matmul::ExecuteMatmul,
    .cost = cost::NcMatmul,
};

}  // namespace wt::chip::isa
