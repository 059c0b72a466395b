// The two physical cores of a logical core: sendrecv swaps tiles, core_barrier waits for the other.
#include <cstring>

#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/hbm.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"

namespace wt::chip::isa {
namespace cores {
namespace {

constexpr int64_t kGpSimdDma = 2;  // nki.isa.dma_engine.gpsimd_dma

std::string Where(ExecuteContext& context) {
  return context.core().sources().Describe(context.instr().source);
}

// sendrecv --------------------------------------------------------------------------------------

constexpr Param kSendrecvParams[] = {
    {"src", ParamKind::kSrc, nullptr, kInSbuf},
    {"dst", ParamKind::kDst, nullptr, kInSbuf},
    {"send_to_rank", ParamKind::kInt},
    {"recv_from_rank", ParamKind::kInt},
    {"pipe_id", ParamKind::kInt},
    {"dma_engine", ParamKind::kDmaEngine, "dma"},
    kNameParam,
};

Status CheckSendrecv(const Machine&, const Instr& instr) {
  using namespace sendrecv;  // NOLINT
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kSrc, kDst));
  WT_RETURN_IF_ERROR(CheckSameDtype(instr, kSrc, kDst));
  WT_RETURN_IF_ERROR(CheckIntRange(instr, kSendToRank, 0, 1));
  WT_RETURN_IF_ERROR(CheckIntRange(instr, kRecvFromRank, 0, 1));
  if (IntOf(instr, kDmaEngine) != kGpSimdDma) return {};
  // 256 elements: 1024 bytes of 32-bit types, 512 of 16, 256 of 8.
  const int64_t elements = instr.operand(kSrc).free_elements();
  if (elements <= 256) return {};
  return KernelError(ErrorClass::kFreeSize,
                     "{} has {} elements a partition; gpsimd_dma moves at most 256: split the "
                     "tile or use dma_engine.dma",
                     OperandName(instr, kSrc), elements);
}

// The ranks can be judged only by a core that knows its own.
Status CheckRanks(ExecuteContext& context, const Instr& instr) {
  using namespace sendrecv;  // NOLINT
  const int rank = context.core().rank();
  if (context.core().hbm().cores() < 2) {
    return KernelError(ErrorClass::kArgument,
                       "sendrecv: this kernel runs on one core; expected a logical core of two: "
                       "launch it as kernel[2]");
  }
  for (int param : {kSendToRank, kRecvFromRank}) {
    if (IntOf(instr, param) == 1 - rank) continue;
    return KernelError(ErrorClass::kArgument,
                       "{} is {} on core {}; expected {}, the other core of the pair",
                       OperandName(instr, param), IntOf(instr, param), rank, 1 - rank);
  }
  return {};
}

Status ExecuteSendrecv(ExecuteContext& context, const Instr& instr) {
  using namespace sendrecv;  // NOLINT
  WT_RETURN_IF_ERROR(CheckRanks(context, instr));
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> mine, context.ReadBits(kSrc));
  // The shape goes along: two cores that send different tiles are an error of the kernel.
  const std::array<int64_t, 3> shape = {instr.operand(kSrc).partitions(),
                                        instr.operand(kSrc).free_elements(),
                                        DTypeBytes(instr.operand(kSrc).dtype)};
  std::vector<std::byte> bytes(sizeof shape + mine.size() * sizeof(uint32_t));
  std::memcpy(bytes.data(), shape.data(), sizeof shape);
  std::memcpy(bytes.data() + sizeof shape, mine.data(), mine.size() * sizeof(uint32_t));
  WT_ASSIGN_OR_RETURN(
      bytes, context.core().hbm().Exchange(context.core().rank(),
                                           fmt::format("sendrecv pipe {}", IntOf(instr, kPipeId)),
                                           Where(context), std::move(bytes)));
  std::array<int64_t, 3> other;
  std::memcpy(other.data(), bytes.data(), sizeof other);
  if (other != shape) {
    return KernelError(ErrorClass::kShape,
                       "sendrecv: this core's tile is [{}, {}] of {} bytes an element, the other "
                       "core sends [{}, {}] of {}; give both cores one shape and dtype",
                       shape[0], shape[1], shape[2], other[0], other[1], other[2]);
  }
  std::vector<uint32_t> theirs(mine.size());
  std::memcpy(theirs.data(), bytes.data() + sizeof other, theirs.size() * sizeof(uint32_t));
  context.WriteBits(kDst, theirs);
  return {};
}

// core_barrier ----------------------------------------------------------------------------------

constexpr Param kCoreBarrierParams[] = {
    // Read and written: what the other core has written counts as written here. On chip it only
    // orders the core's own instructions, as libraries use it for counters of loops.
    {.name = "data",
     .kind = ParamKind::kDstRead,
     .memories = kInHbm | kInSbuf | kInPsum,
     .partial = true},
    {"cores", ParamKind::kInts},
    {"engine", ParamKind::kEngine, "gpsimd"},
    kNameParam,
};

Status CheckCoreBarrier(const Machine&, const Instr& instr) {
  using namespace core_barrier;  // NOLINT
  const std::span<const int64_t> cores = instr.ints_of(kCores);
  if (cores.size() != 2 || cores[0] != 0 || cores[1] != 1) {
    return KernelError(ErrorClass::kArgument, "core_barrier: cores is ({}); expected (0, 1)",
                       fmt::join(cores, ", "));
  }
  const Tensor& data = *instr.operand(kData).tensor;
  if (data.shared || IsOnChip(data.memory)) return {};
  return KernelError(ErrorClass::kMemory,
                     "core_barrier: data is private to this core; expected a tensor of "
                     "nl.shared_hbm that both cores use");
}

Status ExecuteCoreBarrier(ExecuteContext& context, const Instr& instr) {
  (void)instr;
  if (context.core().hbm().cores() < 2) {
    return KernelError(ErrorClass::kArgument,
                       "core_barrier: this kernel runs on one core; expected a logical core of "
                       "two: launch it as kernel[2]");
  }
  return context.core().hbm().Barrier(context.core().rank(), "core_barrier", Where(context));
}

}  // namespace
}  // namespace cores

const InstrDef kSendrecv = {
    .name = "sendrecv",
    .summary =
        "Sends src to the other core of the pair and receives its tile into dst; both cores "
        "must issue it with one pipe_id. Shapes and dtypes must agree; gpsimd_dma is "
        "limited to 256 elements a partition.",
    .params = cores::kSendrecvParams,
    .engines = {Engine::kDma, Engine::kGpSimd},
    .default_engine = Engine::kDma,
    .since = Generation::kGen3,
    .check = cores::CheckSendrecv,
    .execute = cores::ExecuteSendrecv,
    .cost = cost::Sendrecv,
};

const InstrDef kCoreBarrier = {
    .name = "core_barrier",
    .summary =
        "Waits until both cores of the pair have come here, so that each sees what the "
        "other wrote to the shared HBM tensor data before.",
    .params = cores::kCoreBarrierParams,
    .engines = {Engine::kTensor, Engine::kVector, Engine::kScalar, Engine::kGpSimd, Engine::kSync},
    .default_engine = Engine::kGpSimd,
    .since = Generation::kGen3,
    .check = cores::CheckCoreBarrier,
    .execute = cores::ExecuteCoreBarrier,
    .cost = cost::CoreBarrier,
};

}  // namespace wt::chip::isa
