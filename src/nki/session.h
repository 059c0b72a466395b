// A kernel under simulation on one core: what the nki package's calls find when they ask where they
// are. Belongs to one thread at a time (Current). Cores of a pair have a session each.
#pragma once

#include "nki/python.h"
// After Python.h.
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "chip/core.h"
#include "chip/hbm.h"
#include "chip/recorder.h"
#include "nki/source_lines.h"
#include "nki/storage.h"

namespace wt::nki {

class Session {
 public:
  Session(std::shared_ptr<const chip::Machine> machine, const chip::CoreOptions& options, int rank,
          std::shared_ptr<chip::Hbm> hbm);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  static Session* Current();  // of this thread; null outside kernels
  // The turn of this core: waits for it without the interpreter's lock.
  Status Enter();
  void Leave();
  // Tensors go away; views that Python still holds say so when used.
  void Close();

  chip::Core& core() { return core_; }
  chip::Hbm& hbm() { return *hbm_; }
  std::shared_ptr<chip::Hbm> shared_hbm() const { return hbm_; }
  int cores() const { return hbm_->cores(); }
  // Whether the kernel was started with a grid: kernel[n](…).
  bool has_grid() const { return has_grid_; }
  void set_has_grid(bool has_grid) { has_grid_ = has_grid; }
  bool closed() const { return closed_; }
  bool wide() const { return !core_.options().precise_fp && core_.options().values; }
  chip::SourceId Here() { return source_ != 0 ? source_ : source_lines_.Here(core_.sources()); }
  // Instructions and tensors count as written there from now on; 0: where they are.
  void set_source(chip::SourceId source) { source_ = source; }

  // A new tensor of the kernel's own type; `spec.dtype` and sizes are those of StoredType. `bytes`
  // (of an input) may be null.
  Result<Storage*> Declare(chip::TensorSpec spec, DType dtype, const void* bytes);
  void Forget(Storage* storage);

  // Names its dependencies (with_schedule), gives it to the core, remembers its own name.
  Status Issue(chip::Instr& instr);
  // An instruction to fill in: the same one every time, unless one is being made already.
  chip::Instr* BeginInstr();
  void EndInstr(chip::Instr* instr);

  // nl.no_reorder: instructions in between share a number. Blocks may nest.
  void BeginOrdered();
  void EndOrdered();
  bool ordered() const { return ordered_depth_ > 0; }

  // consumer → producers, by the names of instructions.
  void SetSchedule(std::map<std::string, std::vector<std::string>> edges);
  // Edges whose consumer or producer never came, for a message at the kernel's end.
  Status CheckScheduleUsed() const;

  // Keeps what the schedule needs from now on; before the first tensor.
  void Record();
  const chip::Recorder* recorder() const { return recorder_.get(); }

  // The other core has failed: every further call fails too.
  void Cancel() { cancelled_ = true; }
  bool cancelled() const { return cancelled_; }

 private:
  Status AddScheduled(chip::Instr& instr);

  std::shared_ptr<chip::Hbm> hbm_;
  std::unique_ptr<chip::Recorder> recorder_;  // the core's observer outlives it
  chip::Core core_;
  SourceLines source_lines_;
  Storage* storages_ = nullptr;
  Session* outer_ = nullptr;  // the thread's session before Enter
  bool closed_ = false;
  bool has_grid_ = false;
  bool entered_ = false;
  bool cancelled_ = false;
  chip::Instr scratch_;
  bool scratch_used_ = false;
  int ordered_depth_ = 0;
  uint32_t ordered_group_ = 0;
  std::map<std::string, std::vector<std::string>> edges_;
  std::unordered_map<std::string, uint64_t> numbers_;  // of named instructions
  chip::SourceId source_ = 0;                          // set_source
};

// The session of this thread, or null with an outside-kernel exception naming `what`.
Session* CurrentOrRaise(const char* what);

}  // namespace wt::nki
