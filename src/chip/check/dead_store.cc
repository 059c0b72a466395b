#include "chip/check/dead_store.h"

#include <algorithm>

#include "chip/isa/rows.h"

namespace wt::chip {
namespace {

// Results in shared HBM leave the kernel; tensors at fixed addresses may be read under another
// name.
bool Followed(const Tensor& tensor) {
  return !tensor.is_register && !tensor.shared && !tensor.address;
}

bool Writes(Role role) { return role == Role::kWrite || role == Role::kReadWrite; }

// Products add to PSUM unless they say that they do not.
bool Accumulates(const Instr& instr) {
  if (instr.def != &isa::kNcMatmul && instr.def != &isa::kNcMatmulMx) return false;
  const Arg& accumulate = instr.args[static_cast<size_t>(ParamIndex(*instr.def, "accumulate"))];
  return !accumulate.given() || accumulate.i != 0;
}

}  // namespace

void DeadStoreCheck::OnAllocate(const Tensor&) {}

void DeadStoreCheck::OnRelease(const Tensor& tensor) {
  const auto unread = unread_.find(tensor.id);
  if (unread == unread_.end()) return;
  for (const Write& write : unread->second) Report(write, "nothing reads it");
  unread_.erase(unread);
}

void DeadStoreCheck::OnInstr(const Machine&, const Instr& instr) {
  const bool accumulates = Accumulates(instr);
  for (size_t i = 0; i < instr.operands.size(); ++i) {
    if (instr.roles[i] != Role::kWrite || accumulates) Read(instr.operands[i]);
  }
  // Of several results a kernel may want only one.
  if (std::count_if(instr.roles.begin(), instr.roles.end(), Writes) != 1) return;
  for (size_t i = 0; i < instr.operands.size(); ++i) {
    if (Writes(instr.roles[i])) Overwrite(instr.operands[i], instr);
  }
}

// A read of any of its bytes makes a write worth having.
void DeadStoreCheck::Read(const AccessPattern& pattern) {
  const auto unread = unread_.find(pattern.tensor->id);
  if (unread == unread_.end() || unread->second.empty()) return;
  const Footprint footprint = FootprintOf(pattern);
  std::erase_if(unread->second,
                [&](const Write& write) { return Intersect(write.footprint, footprint); });
}

void DeadStoreCheck::Overwrite(const AccessPattern& pattern, const Instr& instr) {
  if (!Followed(*pattern.tensor)) return;
  Footprint footprint = FootprintOf(pattern);
  std::vector<Write>& unread = unread_[pattern.tensor->id];
  std::erase_if(unread, [&](const Write& write) {
    const bool dead = Covers(footprint, write.footprint);
    if (dead) Report(write, "it is overwritten before anything reads it");
    return dead;
  });
  unread.push_back({std::move(footprint), instr.source, instr.def->name, pattern.tensor->name});
}

void DeadStoreCheck::Report(const Write& write, const char* how) {
  findings_->Add({ErrorClass::kDeadStore,
                  fmt::format("{} writes {}, and {}", write.instr,
                              write.tensor.empty() ? "a tensor" : write.tensor, how),
                  write.source, 0, 1});
}

}  // namespace wt::chip
