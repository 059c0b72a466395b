#include "nki/session.h"

#include "nki/errors.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;
using chip::KernelError;

thread_local Session* current = nullptr;

}  // namespace

Session* Session::Current() { return current; }

Session* CurrentOrRaise(const char* what) {
  if (current) return current;
  RaiseKernelError(ErrorClass::kOutsideKernel,
                   "{}: no kernel is running; call it inside a function under @nki.jit", what);
  return nullptr;
}

void Release(Storage* storage) {
  if (--storage->references > 0) return;
  if (storage->session) storage->session->Forget(storage);
  delete storage;
}

Session::Session(std::shared_ptr<const chip::Machine> machine, const chip::CoreOptions& options,
                 int rank, std::shared_ptr<chip::Hbm> hbm)
    : hbm_(hbm), core_(std::move(machine), options, rank, std::move(hbm)) {}

Session::~Session() { Close(); }

void Session::Record() {
  if (recorder_) return;
  recorder_ = std::make_unique<chip::Recorder>(core_.shared_sources());
  core_.AddObserver(recorder_.get());
}

Status Session::Enter() {
  if (closed_ || entered_) {
    return KernelError(ErrorClass::kInternal, "a session is entered once");
  }
  entered_ = true;
  if (hbm_->cores() > 1) {
    WithoutGil released;
    hbm_->TakeTurn(core_.rank());
  }
  outer_ = current;
  current = this;
  return {};
}

void Session::Leave() {
  if (!entered_) return;
  entered_ = false;
  if (current == this) current = outer_;
  hbm_->End(core_.rank());
}

void Session::Close() {
  Leave();
  closed_ = true;
  while (storages_) {
    Storage* storage = storages_;
    Forget(storage);
    storage->session = nullptr;
    storage->tensor = nullptr;
  }
}

Result<Storage*> Session::Declare(chip::TensorSpec spec, DType dtype, const void* bytes) {
  if (wide()) spec.address.reset();  // tiles are wider than the kernel thinks
  if (cancelled_) return KernelError(ErrorClass::kDeadlock, "the kernel on the other core failed");
  auto tensor = bytes ? core_.AllocateFrom(spec, bytes) : core_.Allocate(spec);
  if (!tensor.ok()) return tensor.status();
  auto* storage = new Storage;
  storage->session = this;
  storage->tensor = *tensor;
  storage->memory = spec.memory;
  storage->shared = spec.shared;
  storage->dtype = dtype;
  storage->wide = wide();
  storage->partitions = spec.partitions;
  storage->partition_bytes = spec.partition_bytes;
  storage->name = spec.name;
  storage->next = storages_;
  storage->link = &storages_;
  if (storages_) storages_->link = &storage->next;
  storages_ = storage;
  return storage;
}

void Session::Forget(Storage* storage) {
  *storage->link = storage->next;
  if (storage->next) storage->next->link = storage->link;
  core_.Release(storage->tensor);
}

chip::Instr* Session::BeginInstr() {
  if (scratch_used_) return new chip::Instr;
  scratch_used_ = true;
  scratch_.operands.clear();
  scratch_.roles.clear();
  scratch_.ints.clear();
  scratch_.dynamics.clear();
  scratch_.depends_on.clear();
  scratch_.name.clear();
  return &scratch_;
}

void Session::EndInstr(chip::Instr* instr) {
  if (instr == &scratch_) {
    scratch_used_ = false;
  } else {
    delete instr;
  }
}

Status Session::Issue(chip::Instr& instr) {
  if (cancelled_) return KernelError(ErrorClass::kDeadlock, "the kernel on the other core failed");
  instr.ordered_group = ordered_depth_ > 0 ? ordered_group_ : 0;
  if (!edges_.empty() && !instr.name.empty()) WT_RETURN_IF_ERROR(AddScheduled(instr));
  WT_RETURN_IF_ERROR(core_.Issue(instr));
  if (!instr.name.empty()) numbers_[instr.name] = instr.number;
  return {};
}

Status Session::AddScheduled(chip::Instr& instr) {
  const auto found = edges_.find(instr.name);
  if (found == edges_.end()) return {};
  for (const std::string& producer : found->second) {
    const auto number = numbers_.find(producer);
    if (number == numbers_.end()) {
      return KernelError(ErrorClass::kUnsupported,
                         "with_schedule: {} shall wait for {}, which no instruction before it is "
                         "named; issue {} first",
                         instr.name, producer, producer);
    }
    instr.depends_on.push_back(number->second);
  }
  return {};
}

void Session::BeginOrdered() {
  if (ordered_depth_++ == 0) ++ordered_group_;
}

void Session::EndOrdered() {
  if (ordered_depth_ > 0) --ordered_depth_;
}

void Session::SetSchedule(std::map<std::string, std::vector<std::string>> edges) {
  edges_ = std::move(edges);
}

Status Session::CheckScheduleUsed() const {
  for (const auto& [consumer, producers] : edges_) {
    if (numbers_.contains(consumer)) continue;
    return KernelError(ErrorClass::kArgument,
                       "with_schedule: no instruction is named {}; give one name=\"{}\"", consumer,
                       consumer);
  }
  return {};
}

}  // namespace wt::nki
