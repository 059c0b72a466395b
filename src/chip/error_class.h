// What can be wrong with a kernel, as a fixed list of classes. Every refusal of the simulator
// belongs to one; docs/ERRORS.md is printed from this table. A message reads
//     [out-of-bounds] nc_matmul: moving covers elements 512 to 1023 of 512; …
#pragma once

#include <span>

#include "base/status.h"

namespace wt::chip {

enum class ErrorClass : uint8_t {
  kArgument,       // an argument is missing, unknown or of the wrong kind
  kShape,          // operands do not fit each other
  kPartitions,     // more than 128 partitions, or a start partition that hardware cannot address
  kFreeSize,       // too many free dimensions or elements for one instruction
  kDtype,          // this element type is not allowed here
  kMemory,         // this operand cannot be in that memory (PSUM for GpSimd, …)
  kEngine,         // the engine named cannot execute the instruction
  kGeneration,     // the chip simulated does not have this instruction or mode
  kOutOfBounds,    // an access leaves its tensor
  kCapacity,       // SBUF, PSUM or HBM is full, or an address does not exist
  kUninitialized,  // reads bytes that nothing wrote
  kAccumulate,     // a PSUM accumulation that hardware leaves undefined
  kUndefined,      // other behaviour that hardware does not define
  kRace,           // two engines touch the same bytes with no dependency between them
  kDeadStore,      // what was written is never read
  kDeadlock,       // cores wait for each other for ever
  kLimit,          // --max-instructions reached
  kUnsupported,    // valid NKI that this simulator does not do
  kOutsideKernel,  // an NKI call with no kernel running
  kInternal,       // our own mistake
};

struct ErrorClassRow {
  ErrorClass id;
  const char* name;     // "out-of-bounds"
  const char* meaning;  // one sentence
  const char* advice;   // what to do, one sentence
};

std::span<const ErrorClassRow> ErrorClasses();
const ErrorClassRow& Row(ErrorClass id);

// The class at the head of a message; kInternal when there is none.
ErrorClass ClassOf(const Status& status);

Status MakeKernelError(ErrorClass id, const std::string& text);

// KernelError(ErrorClass::kShape, "tensor_tensor: data1 has {} partitions, data2 {}; …", …)
template <class... Args>
Status KernelError(ErrorClass id, fmt::format_string<Args...> format, Args&&... args) {
  return MakeKernelError(id, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace wt::chip
