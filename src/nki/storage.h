// The memory behind NkiTensor views: one chip::Tensor, let go when the last view of it goes. A
// storage outlives its kernel when Python still holds a view; it then has no tensor any more.
#pragma once

#include "chip/tensor.h"

namespace wt::nki {

class Session;

struct Storage {
  int64_t references = 1;          // by views; the interpreter's lock guards them
  Session* session = nullptr;      // whose core owns the tensor; null after the kernel's end
  chip::Tensor* tensor = nullptr;  // null after the kernel's end
  chip::Memory memory = chip::Memory::kSbuf;
  bool shared = false;          // shared_hbm
  bool written = false;         // some instruction named it as a destination
  bool frozen = false;          // the induction register of a loop
  bool alias = false;           // of a tensor that another core of the pair owns
  bool wide = false;            // NKI_PRECISE_FP=0: floats below 32 bits lie as float32
  DType dtype = DType::kF32;    // as declared
  int64_t partitions = 1;       // on-chip
  int64_t partition_bytes = 0;  // HBM: all bytes
  std::string name;
  Storage* next = nullptr;  // the session's list of what is alive
  Storage** link = nullptr;

  bool on_chip() const { return chip::IsOnChip(memory); }
};

// How elements of a type lie in memory.
inline DType StoredType(bool wide, DType dtype) {
  return wide && IsFloat(dtype) && DTypeBytes(dtype) < 4 ? DType::kF32 : dtype;
}

inline Storage* Retain(Storage* storage) {
  ++storage->references;
  return storage;
}
void Release(Storage* storage);  // session.cc

}  // namespace wt::nki
