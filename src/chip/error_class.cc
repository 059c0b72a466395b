#include "chip/error_class.h"

#include <array>

namespace wt::chip {
namespace {

using E = ErrorClass;
constexpr std::array kRows = std::to_array<ErrorClassRow>({
    {E::kArgument, "argument", "An argument is missing, unknown or of the wrong kind.",
     "Compare the call with the instruction's parameters in docs/ISA.md."},
    {E::kShape, "shape", "The operands of an instruction do not fit each other.",
     "Print the shapes before the call; slice, reshape or broadcast until they agree."},
    {E::kPartitions, "partitions",
     "An operand spans more partitions than there are, or starts on one that an engine cannot "
     "start on.",
     "Use at most 128 partitions; start at 0, at 64 for up to 64, at 32 or 96 for up to 32."},
    {E::kFreeSize, "free-size",
     "An operand has more free dimensions or elements than one instruction can walk.",
     "Split the tile along its free dimensions."},
    {E::kDtype, "dtype", "The element type is not allowed for this operand.",
     "Cast with tensor_copy or declare the tile with an allowed type."},
    {E::kMemory, "memory", "The operand lies in a memory that the instruction cannot reach there.",
     "Copy it first: tensor_copy between PSUM and SBUF, dma_copy between SBUF and HBM."},
    {E::kEngine, "engine", "The engine named cannot execute the instruction.",
     "Leave the engine out, or name one that docs/ISA.md lists."},
    {E::kGeneration, "generation", "The simulated chip does not have this instruction or mode.",
     "Use another instruction, or simulate the generation that has it."},
    {E::kOutOfBounds, "out-of-bounds", "An access leaves its tensor.",
     "Check offsets and sizes; the last tile of a loop often needs a smaller size."},
    {E::kCapacity, "capacity", "A memory is too small for a tensor, or an address does not exist.",
     "Make the tile smaller, let tiles go out of use sooner, or split the problem."},
    {E::kUninitialized, "uninitialized", "An instruction reads bytes that nothing has written.",
     "Write the tile first: dma_copy, memset, or the instruction that should have made it."},
    {E::kAccumulate, "accumulate", "A PSUM accumulation whose result the hardware does not define.",
     "Begin every accumulation with accumulate=False and add only to what matmuls wrote."},
    {E::kUndefined, "undefined", "Other behaviour that the hardware does not define.",
     "Keep the values inside the documented range."},
    {E::kRace, "race", "Two engines touch the same bytes with no dependency between them.",
     "Let one instruction depend on the other, or give each its own tile."},
    {E::kDeadStore, "dead-store", "What an instruction wrote is never read.",
     "Remove the instruction, or use its result."},
    {E::kDeadlock, "deadlock", "Two cores wait for each other for ever.",
     "Let both cores issue the same sendrecv and core_barrier calls in the same order."},
    {E::kLimit, "limit", "The kernel issued more instructions than allowed.",
     "Look for a loop that never ends, or raise --max-instructions."},
    {E::kUnsupported, "unsupported", "Valid NKI that this simulator does not do.",
     "docs/ISA.md says what is supported; use another way to the same result."},
    {E::kOutsideKernel, "outside-kernel", "An NKI call was made while no kernel was running.",
     "Call it inside a function under @nki.jit."},
    {E::kInternal, "internal", "The simulator's own mistake.",
     "Please report it, with the kernel that shows it."},
});

Code CodeOf(ErrorClass id) {
  switch (id) {
    case E::kCapacity:
    case E::kLimit:
      return Code::kCapacity;
    case E::kGeneration:
    case E::kUnsupported:
      return Code::kUnsupported;
    default:
      return Code::kInvalidArgument;
  }
}

}  // namespace

std::span<const ErrorClassRow> ErrorClasses() { return kRows; }

const ErrorClassRow& Row(ErrorClass id) { return kRows[static_cast<size_t>(id)]; }

ErrorClass ClassOf(const Status& status) {
  const std::string& text = status.message();
  const size_t end = text.find(']');
  if (text.empty() || text[0] != '[' || end == std::string::npos) return E::kInternal;
  const std::string_view name = std::string_view(text).substr(1, end - 1);
  for (const ErrorClassRow& row : kRows) {
    if (name == row.name) return row.id;
  }
  return E::kInternal;
}

Status MakeKernelError(ErrorClass id, const std::string& text) {
  return Status(CodeOf(id), fmt::format("[{}] {}", Row(id).name, text));
}

}  // namespace wt::chip
