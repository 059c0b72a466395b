// A tensor of the simulated machine: a block of SBUF, PSUM or HBM with its bytes and the record of
// which of them were written. Owned by a Core (on-chip) or by the Hbm that cores share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/dtype.h"

namespace wt::chip {

enum class Memory : uint8_t { kSbuf, kPsum, kHbm, kRegister };
const char* MemoryName(Memory memory);
inline bool IsOnChip(Memory memory) { return memory == Memory::kSbuf || memory == Memory::kPsum; }

using TensorId = uint32_t;  // unique within a run, never used again
using SourceId = uint32_t;  // a place in the kernel's text: source.h
inline constexpr TensorId kNoTensor = ~TensorId{0};

// Where an on-chip tensor lies when the kernel says so.
struct Address {
  int partition = 0;
  int64_t byte = 0;  // within the partition
};

struct Shadow;  // shadow.h: which bytes have been written

// Bytes are laid out as [partitions, partition_bytes]; an HBM tensor has one "partition". The bytes
// of tensors with an address lie inside the core's physical memory, so that tensors at overlapping
// addresses share them; other tensors have bytes of their own.
struct Tensor {
  TensorId id = kNoTensor;
  Memory memory = Memory::kSbuf;
  bool shared = false;          // HBM that both cores of a pair see
  bool is_register = false;     // a 32-bit scalar register of a sequencer
  DType dtype = DType::kF32;    // as declared; access patterns may reinterpret
  int partitions = 1;           // on-chip: at most 128
  int64_t partition_bytes = 0;  // HBM: all bytes
  std::optional<Address> address;
  std::string name;
  SourceId source = 0;  // where it was declared

  std::byte* data = nullptr;  // null when values are not simulated
  int64_t data_stride = 0;    // bytes from one partition to the next
  Shadow* shadow = nullptr;   // null when values are not simulated
  // PSUM with an address: what was written under this tensor's own name. Accumulation groups belong
  // to a declaration, and the bytes may have been another one's before. Null: as `shadow` says.
  Shadow* own_shadow = nullptr;
  std::shared_ptr<void> keep;  // what `data` and `shadow` live in
};

}  // namespace wt::chip
