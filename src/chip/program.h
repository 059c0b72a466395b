// A recorded kernel as the scheduler sees it: instructions reduced to engines, costs and the bytes
// they touch. Compact, without values, so that a program of a million instructions can be timed
// many times. A longer program comes in segments: the same type, `first` counting on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chip/cost.h"
#include "chip/source.h"

namespace wt::chip {

// Bytes that an operand touches: rows x [byte_begin, byte_end). On-chip, rows are partitions. In
// HBM a row is `pitch` bytes of the tensor (0: the tensor is one row), so that tiles side by side
// in a matrix do not seem to overlap. Patterns that are no such box are widened to one.
struct Access {
  uint32_t slot = 0;  // the tensor: TensorEvent::slot
  uint32_t pitch = 0;
  int32_t row_begin = 0, row_end = 1;
  int64_t byte_begin = 0, byte_end = 0;
  bool read = false, write = false;
  bool whole = false;       // a dense write of every byte: a new version of the tensor may begin
  bool stationary = false;  // the weights of a matmul: not loaded again when they repeat
  bool broadcast = false;   // one partition read as if it were many
  uint8_t element_bytes = 1;
};

struct DmaShape {
  int64_t bytes = 0;
  // The shorter of the contiguous runs on both sides, before any splitting.
  int64_t descriptor_bytes = 0;
  int32_t partitions = 0;  // of the on-chip side (0: HBM to HBM)
  int16_t start_partition = 0;
  bool load = false;   // HBM to on-chip
  bool store = false;  // on-chip to HBM; neither: on-chip to on-chip or HBM to HBM
  bool transpose = false;
  bool accumulate = false;
  bool aligned = true;  // address and length of its rows in HBM are multiples of the bus's width
};

struct TimedInstr {
  uint16_t def = 0;                  // index in AllInstrs()
  Engine engine = Engine::kUnknown;  // as the kernel named it, or the only one there is
  EngineSet engines;                 // candidates
  uint8_t flags = 0;                 // of the list below
  uint8_t num_accesses = 0;
  uint8_t table_set = 0;
  SourceId source = 0;
  uint32_t ordered_group = 0;
  uint32_t first_access = 0;  // index into Program::accesses
  int32_t dma = -1;           // index into Program::dmas
  uint32_t elements = 0;      // of a partition, of its widest operand
  // Cost by candidate engine: [vector, scalar, gpsimd]; the only engine of tensor, sync and DMA
  // instructions uses [0] (DMA: what its queue needs to issue it).
  std::array<float, 3> interval_ns{}, latency_ns{};
  std::array<Evidence, 3> evidence{};  // of these costs
  std::array<float, 3> fixed_ns{};     // part of the interval that does not grow with the elements
  float weight_load_ns = 0;            // tensor engine
  float array_activity = 0;            // likewise: share of the array that works
  float flops = 0;
};
inline constexpr uint8_t kAccumulates = 1;  // adds to PSUM what is there
inline constexpr uint8_t kTransposes = 2;   // matmul in transpose mode
inline constexpr uint8_t kBarrier = 4;      // everything before it ends first; all after it waits
inline constexpr uint8_t kMeets = 8;        // waits for the other core's instruction of this kind
inline constexpr uint8_t kSharesPort = 16;  // fast mode of the Vector engine: GpSimd has to wait
inline constexpr uint8_t kFills = 32;       // memset: the policy may have an engine for these
inline constexpr uint8_t kCopies = 64;      // tensor_copy: likewise
inline constexpr uint8_t kDrains =
    128;  // a transfer before which the DMA engines run dry (lowering.h)

inline constexpr uint64_t kNoInstr = ~uint64_t{0};

// The slot of `engine` in TimedInstr's costs.
constexpr int CostSlot(Engine engine) {
  return engine == Engine::kScalar ? 1 : engine == Engine::kGpSimd ? 2 : 0;
}

// A declaration in the kernel's text. Tensors that a loop declares again and again share one.
struct TensorDecl {
  Memory memory = Memory::kSbuf;
  int16_t partitions = 1;
  int16_t start_partition = -1;  // -1: anywhere
  int64_t partition_bytes = 0;   // HBM: all of them
  int64_t address_byte = -1;     // -1: the policy places it
  SourceId source = 0;
  std::string name;
  bool operator==(const TensorDecl&) const = default;
};

// A tensor's life, in the order of issue. Slots are small numbers that are used again once their
// tensor is released, so that tables by slot stay small however many tensors a kernel makes.
struct TensorEvent {
  uint64_t before = 0;  // happens before the instruction of this number
  uint32_t slot = 0;
  uint32_t decl = 0;     // index into Program::decls
  bool release = false;  // the kernel has let go of it
};

// The kernel wants `to` after `from`.
struct DeclaredEdge {
  uint64_t to = 0, from = 0;  // numbers of instructions
};

struct Program {
  uint64_t first = 0;  // number of instrs[0], counting from 0
  std::vector<TimedInstr> instrs;
  std::vector<Access> accesses;
  std::vector<DmaShape> dmas;
  std::vector<DeclaredEdge> edges;  // by `to`
  std::vector<TensorEvent> events;
  std::vector<TensorDecl> decls;  // of the whole program so far, in every segment
  std::shared_ptr<const SourceTable> sources;

  size_t size() const { return instrs.size(); }
};

// Refuses a program whose indices lead nowhere: what a file holds, or a mistake of the recorder.
Status CheckProgram(const Program& program);

}  // namespace wt::chip
