// nc_transpose and dma_transpose.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "chip/bytes.h"
#include "chip/cost_rules.h"
#include "chip/error_class.h"
#include "chip/execute.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace transposes {
namespace {

// nc_transpose

namespace nt = nc_transpose;

constexpr Param kNcTransposeParams[] = {
    {"dst", ParamKind::kDst},
    {"data", ParamKind::kSrc},
    {"engine", ParamKind::kEngine, "unknown"},
    {"name", ParamKind::kString, "None"},
};

EngineSet NcTransposeEngines(const Machine& machine, const Instr& instr) {
  EngineSet engines;
  const AccessPattern& data = instr.operand(nt::kData);
  const AccessPattern& dst = instr.operand(nt::kDst);
  const int64_t side = std::max(data.partitions(), data.free_elements());
  if (side <= machine.constant(ConstantId::kVectorTransposeMax))
    engines = EngineSet{Engine::kVector};
  const bool through_array = data.tensor->memory == Memory::kSbuf &&
                             dst.tensor->memory == Memory::kPsum && side <= machine.max_stationary;
  if (through_array) engines.bits |= EngineSet{Engine::kTensor}.bits;
  return engines;
}

Status CheckNcTranspose(const Machine&, const Instr& instr) {
  const AccessPattern& data = instr.operand(nt::kData);
  const AccessPattern& dst = instr.operand(nt::kDst);
  WT_RETURN_IF_ERROR(CheckSameDtype(instr, nt::kDst, nt::kData));
  if (dst.partitions() != data.free_elements() || dst.free_elements() != data.partitions())
    return KernelError(ErrorClass::kShape,
                       "nc_transpose: dst is [{}, {}]; transposing [{}, {}] makes [{}, {}]",
                       dst.partitions(), dst.free_elements(), data.partitions(),
                       data.free_elements(), data.free_elements(), data.partitions());
  return {};
}

Status ExecuteNcTranspose(ExecuteContext& context, const Instr&) {
  const Walk& from = context.walk(nt::kData);
  const Walk& to = context.walk(nt::kDst);
  const int64_t bytes = DTypeBytes(from.pattern.dtype);
  std::vector<std::byte> in(static_cast<size_t>(from.pattern.bytes())), out(in.size());
  GatherBytes(from, in.data());
  TransposeElements(in.data(), from.rows(), from.row_elements(), bytes, out.data());
  ScatterBytes(to, out.data());
  MarkWritten(to);
  return {};
}

// dma_transpose

namespace dt = dma_transpose;

constexpr Param kDmaTransposeParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf},
    {"src", ParamKind::kSrc, nullptr, kInSbuf | kInHbm},
    {"axes", ParamKind::kInts, "None"},
    {"priority", ParamKind::kInt, "None"},
    {"dge_mode", ParamKind::kDgeMode, "unknown"},
    {"oob_mode", ParamKind::kOobMode, "error"},
    {"name", ParamKind::kString, "None"},
};

const Dynamic* VectorOffset(const Instr& instr) {
  for (const Dynamic& dynamic : instr.dynamics) {
    if (dynamic.vector) return &dynamic;
  }
  return nullptr;
}

// The first and the last dimension change places, in each of the three permutations there are.
Status CheckAxes(const Instr& instr) {
  const AccessPattern& src = instr.operand(dt::kSrc);
  const AccessPattern& dst = instr.operand(dt::kDst);
  const int rank = src.num_dims;
  if (rank < 2 || rank > 4)
    return KernelError(ErrorClass::kShape, "dma_transpose: src has {} dimensions; expected 2 to 4",
                       rank);
  static constexpr int64_t kAxes[3][4] = {{1, 0}, {2, 1, 0}, {3, 1, 2, 0}};
  const int64_t* expected = kAxes[rank - 2];
  const std::span<const int64_t> given =
      instr.has(dt::kAxes) ? instr.ints_of(dt::kAxes) : std::span<const int64_t>{};
  if (!given.empty() && !std::equal(given.begin(), given.end(), expected, expected + rank))
    return KernelError(ErrorClass::kArgument,
                       "dma_transpose: axes ({}) with {} dimensions; expected (1, 0), (2, 1, 0) or "
                       "(3, 1, 2, 0)",
                       fmt::join(given, ", "), rank);
  bool fits = dst.num_dims == rank;
  for (int i = 0; i < rank && fits; ++i)
    fits = dst.dims[static_cast<size_t>(i)].size == src.dims[static_cast<size_t>(expected[i])].size;
  if (fits) return {};
  return KernelError(ErrorClass::kShape,
                     "dma_transpose: dst is not src with its first and last dimension exchanged");
}

Status CheckHwdgeTranspose(const Machine& machine, const Instr& instr) {
  const AccessPattern& src = instr.operand(dt::kSrc);
  if (machine.generation < Generation::kGen3)
    return KernelError(ErrorClass::kGeneration,
                       "dma_transpose: dge_mode hwdge does not exist on {}", machine.name);
  const int rank = src.num_dims;
  const int64_t first = src.dims[0].size, last = src.dims[static_cast<size_t>(rank - 1)].size;
  const int64_t before_last = src.dims[static_cast<size_t>(rank - 2)].size;
  const bool rows_fit =
      rank == 2 ? first == 16 : first <= 16 && 16 % first == 0 && first * before_last % 16 == 0;
  if (rows_fit && last <= 128 && DTypeBytes(src.dtype) == 2) return {};
  return KernelError(ErrorClass::kShape,
                     "dma_transpose: dge_mode hwdge takes 2-byte elements, a last dimension of at "
                     "most 128 and a first one of 16 (3 and 4 dimensions: 1, 2, 4, 8 or 16, times "
                     "the one before the last a multiple of 16)");
}

Status CheckIndirectTranspose(const Machine& machine, const Instr& instr, const Dynamic& dynamic) {
  const AccessPattern& src = instr.operand(dt::kSrc);
  const AccessPattern& index = instr.operands[static_cast<size_t>(dynamic.index_operand)];
  const auto refuse = [](const std::string& what) {
    return KernelError(ErrorClass::kShape, "dma_transpose: with a vector offset {}", what);
  };
  if (machine.generation < Generation::kGen3)
    return KernelError(ErrorClass::kGeneration, "dma_transpose: {} has no vector offsets",
                       machine.name);
  if (src.tensor->memory != Memory::kHbm)
    return KernelError(ErrorClass::kMemory, "dma_transpose: with a vector offset src is in hbm");
  if (index.tensor->memory != Memory::kSbuf || index.dtype != DType::kU32)
    return KernelError(ErrorClass::kDtype,
                       "dma_transpose: the offsets are a u32 tensor in sbuf, given {}",
                       Describe(index));
  if (DTypeBytes(src.dtype) != 2)
    return KernelError(ErrorClass::kDtype,
                       "dma_transpose: with a vector offset src has 2-byte elements");
  if (src.num_dims == 4 && src.dims[1].size != 1 && src.dims[2].size != 1)
    return refuse("one of the middle dimensions of src is 1");
  if (src.dims[static_cast<size_t>(src.num_dims - 1)].size > 128)
    return refuse("the last dimension of src is at most 128");
  if (src.dims[0].size % 16 != 0) return refuse("src has a multiple of 16 rows");
  const int64_t rows = index.partitions(), columns = index.free_elements();
  if (rows < 16 || rows % 16 != 0 || (columns > 1 && rows != 128) ||
      rows * columns < src.dims[0].size)
    return refuse(
        "the offsets lie in 16, 32, … or 128 partitions (in 128 when there are several a "
        "partition), at least one a row of src");
  return {};
}

Status CheckDmaTranspose(const Machine& machine, const Instr& instr) {
  WT_RETURN_IF_ERROR(CheckSameDtype(instr, dt::kDst, dt::kSrc));
  if (instr.has(dt::kPriority) && machine.generation < Generation::kGen4)
    return KernelError(ErrorClass::kGeneration, "dma_transpose: priority does not exist on {}",
                       machine.name);
  const Dynamic* indirect = VectorOffset(instr);
  const auto mode = instr.name_of<DgeMode>(dt::kDgeMode);
  const DgeMode other = indirect ? DgeMode::kSwdge : DgeMode::kHwdge;
  if (mode != DgeMode::kUnknown && mode != other)
    return KernelError(ErrorClass::kArgument, "dma_transpose: dge_mode must be unknown or {} here",
                       indirect ? "swdge" : "hwdge");
  if (!indirect && instr.name_of<OobMode>(dt::kOobMode) == OobMode::kSkip)
    return KernelError(ErrorClass::kArgument,
                       "dma_transpose: oob_mode skip needs a vector offset on src");
  WT_RETURN_IF_ERROR(CheckAxes(instr));
  if (mode == DgeMode::kHwdge) return CheckHwdgeTranspose(machine, instr);
  return indirect ? CheckIndirectTranspose(machine, instr, *indirect) : Status();
}

// Row i of src is the i-th element of dst's last dimension.
void MarkTransposed(const Instr& instr, const Walk& from) {
  AccessPattern dst = instr.operand(dt::kDst);
  if (from.row_offsets.empty()) return MarkWritten(dst);
  Dim& last = dst.dims[static_cast<size_t>(dst.num_dims - 1)];
  const int64_t offset = dst.offset;
  last.size = 1;
  for (int64_t i = 0; i < from.rows(); ++i) {
    dst.offset = offset + i * last.step;
    if (from.Row(i)) MarkWritten(dst);
  }
}

// to[k, middle, i] = from[i, middle, k], without the rows that `walk` skips.
void ExchangeEnds(const Walk& walk, const std::byte* from, int64_t middle, int64_t last,
                  std::byte* to) {
  const int64_t rows = walk.rows(), bytes = DTypeBytes(walk.pattern.dtype);
  for (int64_t i = 0; i < rows; ++i) {
    if (!walk.Row(i)) continue;
    for (int64_t j = 0; j < middle; ++j) {
      for (int64_t k = 0; k < last; ++k)
        std::memcpy(to + ((k * middle + j) * rows + i) * bytes,
                    from + ((i * middle + j) * last + k) * bytes, static_cast<size_t>(bytes));
    }
  }
}

// dst[k, middle, i] = src[i, middle, k]; rows of src that are skipped leave dst's elements alone.
Status ExecuteDmaTranspose(ExecuteContext& context, const Instr& instr) {
  const Walk& from = context.walk(dt::kSrc);
  const Walk& to = context.walk(dt::kDst);
  const AccessPattern& src = instr.operand(dt::kSrc);
  const int64_t bytes = DTypeBytes(src.dtype);
  const int64_t rows = from.rows(), last = src.dims[static_cast<size_t>(src.num_dims - 1)].size;
  const int64_t middle = last == 0 ? 0 : from.row_elements() / last;
  std::vector<std::byte> in(static_cast<size_t>(src.bytes())), out(in.size());
  GatherBytes(to, out.data());
  GatherBytes(from, in.data());
  if (middle == 1 && from.row_offsets.empty()) {
    TransposeElements(in.data(), rows, last, bytes, out.data());
  } else {
    ExchangeEnds(from, in.data(), middle, last, out.data());
  }
  ScatterBytes(to, out.data());
  MarkTransposed(instr, from);
  return {};
}

}  // namespace
}  // namespace transposes

const InstrDef kNcTranspose = {
    .name = "nc_transpose",
    .summary =
        "dst[f, p] = data[p, f], bit by bit, all free dimensions taken as one. The Tensor engine "
        "goes from SBUF to PSUM, up to 128 by 128; the Vector engine anywhere on chip, up to 32 by "
        "32.",
    .params = transposes::kNcTransposeParams,
    .engines = {Engine::kTensor, Engine::kVector},
    .default_engine = Engine::kUnknown,
    .candidates = transposes::NcTransposeEngines,
    .check = transposes::CheckNcTranspose,
    .execute = transposes::ExecuteNcTranspose,
    .cost = cost::NcTranspose,
};

const InstrDef kDmaTranspose = {
    .name = "dma_transpose",
    .summary =
        "Copies src to dst with its first and last dimension exchanged, through the DMA engines; "
        "with a vector offset the rows of src are gathered first.",
    .params = transposes::kDmaTransposeParams,
    .engines = {Engine::kDma},
    .default_engine = Engine::kDma,
    .check = transposes::CheckDmaTranspose,
    .execute = transposes::ExecuteDmaTranspose,
    .cost = cost::DmaTranspose,
};

}  // namespace wt::chip::isa
