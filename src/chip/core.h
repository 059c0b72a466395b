// One NeuronCore under simulation. The front end allocates tensors and issues instructions one at a
// time; each is checked, executed (when values are on) and handed to the observers (recorder,
// checks).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "chip/error_class.h"
#include "chip/isa.h"
#include "chip/machine.h"
#include "chip/source.h"

namespace wt::chip {

struct CoreOptions {
  bool values = true;      // simulate values; false: shapes and time only
  bool precise_fp = true;  // round to the declared dtypes; false: keep fp32 (NKI_PRECISE_FP=0)
  bool check_uninitialized = true;
  bool check_ranges = true;       // refuse arguments outside an activation's documented range
  uint64_t max_instructions = 0;  // 0: no limit
  uint64_t seed = 0;              // of the engines' random number generators
};

struct TensorSpec {
  Memory memory = Memory::kSbuf;
  DType dtype = DType::kF32;
  int64_t partitions = 1;       // HBM: 1
  int64_t partition_bytes = 0;  // HBM: all bytes
  bool shared = false;
  bool is_register = false;
  std::optional<Address> address;
  std::string name;
  SourceId source = 0;
};

// Sees everything a core does, in order.
class CoreObserver {
 public:
  virtual ~CoreObserver() = default;
  virtual void OnAllocate(const Tensor& tensor) = 0;
  virtual void OnRelease(const Tensor& tensor) = 0;
  virtual void OnInstr(const Machine& machine,
                       const Instr& instr) = 0;  // after its values are there
  // An edge that the kernel declares when both instructions are already there (depends_on).
  virtual void OnDependency(uint64_t /*consumer*/, uint64_t /*producer*/) {}
};

// HBM that the cores of a logical core share, and their meeting points (sendrecv, core_barrier).
class Hbm;  // hbm.h

class ExecuteState;  // execute.h: registers, generators, engine accumulators, PSUM groups

class Core {
 public:
  Core(std::shared_ptr<const Machine> machine, const CoreOptions& options, int rank = 0,
       std::shared_ptr<Hbm> hbm = nullptr);
  ~Core();

  const Machine& machine() const { return *machine_; }
  std::shared_ptr<const Machine> shared_machine() const { return machine_; }
  const CoreOptions& options() const { return options_; }
  int rank() const { return rank_; }  // 0 or 1 within a pair
  SourceTable& sources() { return *sources_; }
  std::shared_ptr<const SourceTable> shared_sources() const { return sources_; }
  ExecuteState& state() { return *state_; }
  Hbm& hbm() { return *hbm_; }

  // A new tensor, bytes undefined. Lives until Release.
  Result<Tensor*> Allocate(const TensorSpec& spec);
  void Release(Tensor* tensor);
  // Takes bytes from the host: an input of the kernel. `bytes` must be spec's size; null: no
  // values.
  Result<Tensor*> AllocateFrom(const TensorSpec& spec, const void* bytes);

  // Completes (legality.h), checks, executes, observes. Sets instr.number. On failure nothing was
  // written, and the message ends with the place in the kernel. May block where cores meet.
  Status Issue(Instr& instr);

  // `consumer` runs after `producer`. Requires producer < consumer <= num_instructions().
  void AddDependency(uint64_t consumer, uint64_t producer) {
    for (CoreObserver* observer : observers_) observer->OnDependency(consumer, producer);
  }

  void AddObserver(CoreObserver* observer) { observers_.push_back(observer); }
  uint64_t num_instructions() const { return num_instructions_; }
  // The kernel has ended on this core; the other one no longer waits for it. The destructor does
  // so too.
  void End();
  // The value of a 32-bit register or of a [1, 1] tensor, for run-time loops and dynamic offsets.
  Result<int64_t> ReadScalar(const AccessPattern& pattern);

 private:
  Status Check(Instr& instr);
  Status CheckSpec(const TensorSpec& spec) const;
  Result<std::shared_ptr<Tensor>> MakeTensor(const TensorSpec& spec);
  void PlaceAt(Tensor& tensor, const Address& address);
  std::string AtSource(SourceId source) const;

  std::shared_ptr<const Machine> machine_;
  CoreOptions options_;
  int rank_;
  std::shared_ptr<Hbm> hbm_;
  std::shared_ptr<SourceTable> sources_;
  TensorId next_tensor_;
  std::unique_ptr<ExecuteState> state_;
  std::vector<CoreObserver*> observers_;
  std::unordered_map<TensorId, std::shared_ptr<Tensor>> tensors_;
  std::array<std::shared_ptr<void>, 2> physical_;  // SBUF and PSUM: what addressed tensors lie in
  uint64_t num_instructions_ = 0;
};

}  // namespace wt::chip
