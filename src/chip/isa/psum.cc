#include "chip/isa/psum.h"

#include <algorithm>

#include "chip/error_class.h"

namespace wt::chip::isa {
namespace psum {
namespace {

bool AllZero(const Walk& walk) {
  std::vector<float> row(static_cast<size_t>(walk.row_elements()));
  for (int64_t p = 0; p < walk.rows(); ++p) {
    LoadRow(walk, p, row.data());
    if (std::any_of(row.begin(), row.end(), [](float x) { return x != 0; })) return false;
  }
  return true;
}

Status Undefined(const Instr& instr, const char* what) {
  return KernelError(ErrorClass::kAccumulate,
                     "{}: dst holds {}; adding to it is not defined: let the first matmul "
                     "overwrite (accumulate=False)",
                     instr.def->name, what);
}

}  // namespace
}  // namespace psum

// Whether to add to what dst holds. Zeros that another engine wrote may stand before a group whose
// flag is left to the compiler: overwriting them is the same.
Result<bool> PsumAccumulates(ExecuteContext& context, int dst, int accumulate) {
  const Instr& instr = context.instr();
  if (instr.has(accumulate) && !instr.flag(accumulate)) return false;
  const bool asked = instr.has(accumulate);
  const bool any_writer = context.machine().generation >= Generation::kGen4;
  const Walk& to = context.walk(dst);
  switch (PsumStateOf(to.pattern)) {
    case PsumState::kMatmul:
      return true;
    case PsumState::kUnwritten:
      return asked ? Result<bool>(psum::Undefined(instr, "nothing yet")) : Result<bool>(false);
    case PsumState::kOther:
      if (any_writer) return true;
      if (!asked && psum::AllZero(to)) return false;
      return psum::Undefined(instr, "what another instruction than a matmul wrote");
    case PsumState::kMixed:
      return psum::Undefined(instr, "the result of a matmul in one part only");
  }
  return false;
}

}  // namespace wt::chip::isa
