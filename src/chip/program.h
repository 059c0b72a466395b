// A recorded kernel as the scheduler sees it: instructions reduced to engines, costs and the bytes
// they touch. Compact, without values, so that a program of a million instructions can be timed
// many times.
#pragma once

#include <memory>
#include <vector>

#include "chip/cost.h"
#include "chip/source.h"

namespace wt::chip {

// Bytes that an operand touches: a box of partitions x [byte_begin, byte_end) of a tensor. HBM: one
// partition. Strided patterns are widened to the box that holds them.
struct Access {
  TensorId tensor = kNoTensor;
  int16_t partition_begin = 0, partition_end = 1;
  int64_t byte_begin = 0, byte_end = 0;
  bool write = false;
  bool whole_tensor = false;  // a dense write of every byte: a new version of the tensor may begin
};

struct DmaShape {
  int64_t bytes = 0;
  int64_t descriptor_bytes =
      0;                   // the shorter of the contiguous runs on both sides, before any splitting
  int32_t partitions = 0;  // of the on-chip side (0: HBM to HBM)
  int16_t start_partition = 0;
  bool load = false;   // HBM to on-chip
  bool store = false;  // on-chip to HBM; neither: on-chip to on-chip or HBM to HBM
  bool transpose = false;
  bool accumulate = false;
  uint8_t dge_mode = 0;  // DgeMode as the kernel named it
};

struct TimedInstr {
  uint16_t def = 0;                  // index in AllInstrs()
  Engine engine = Engine::kUnknown;  // as the kernel named it, or the only one there is
  EngineSet engines;                 // candidates
  uint8_t flags = 0;                 // of the list below
  uint8_t num_accesses = 0;
  SourceId source = 0;
  uint32_t ordered_group = 0;
  uint32_t first_access = 0;  // index into Program::accesses
  int32_t dma = -1;           // index into Program::dmas
  int32_t first_edge = -1;    // declared edges: index into Program::edges, ends with 0
  // Cost by candidate engine, in the order tensor, vector, scalar, gpsimd; one slot each is used
  // for the single engine of tensor and DMA instructions.
  std::array<float, 3> interval_ns{}, latency_ns{};  // [vector, scalar, gpsimd]; tensor uses [0]
  float weight_load_ns = 0, array_activity = 0;
  uint16_t matmul_rows = 0, matmul_cols = 0;  // K and M
  uint8_t table_set = 0;
  Evidence evidence = Evidence::kGuessed;
  float flops = 0;
};
inline constexpr uint8_t kAccumulates = 1;     // adds to PSUM what is there
inline constexpr uint8_t kTransposes = 2;      // matmul in transpose mode
inline constexpr uint8_t kPsumGroupStart = 4;  // overwrites PSUM: opens an accumulation group
inline constexpr uint8_t kBarrier =
    8;  // waits for everything before it, and everything after waits

// A tensor's life, in the order of issue.
struct TensorEvent {
  uint64_t before = 0;  // happens before instruction number `before` (index into Program::instrs)
  TensorId tensor = kNoTensor;
  bool release = false;  // the kernel has let go of it
};

struct ProgramTensor {
  Memory memory = Memory::kSbuf;
  int16_t partitions = 1;
  int16_t start_partition = -1;  // -1: anywhere
  int64_t partition_bytes = 0;
  int64_t address_byte = -1;  // -1: the policy places it
  SourceId source = 0;  // declaration site: executions of one site share buffers under renaming
  std::string name;
};

struct Program {
  std::vector<TimedInstr> instrs;
  std::vector<Access> accesses;
  std::vector<DmaShape> dmas;
  std::vector<uint64_t> edges;
  std::vector<TensorEvent> events;
  std::vector<ProgramTensor> tensors;  // by TensorId
  std::shared_ptr<const SourceTable> sources;
};

}  // namespace wt::chip
