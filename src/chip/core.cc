#include "chip/core.h"

#include <cstring>

#include "chip/block_pool.h"
#include "chip/convert.h"
#include "chip/error_class.h"
#include "chip/execute.h"
#include "chip/hbm.h"
#include "chip/legality.h"

namespace wt::chip {
namespace {

// Bytes and their shadow. Rows begin on multiples of 64 bytes.
struct Storage {
  Storage(Memory memory, int64_t rows, int64_t row_bytes, bool fill)
      : stride((row_bytes + 63) / 64 * 64),
        size(static_cast<size_t>(std::max<int64_t>(rows * stride, 64))),
        bytes(BlockPool::ForTensors().Take(size)),
        shadow(memory, rows, row_bytes) {
    if (fill && bytes) std::memset(bytes, 0xff, size);
  }
  ~Storage() {
    if (bytes) BlockPool::ForTensors().Give(bytes, size);
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  int64_t stride;
  size_t size;
  std::byte* bytes;  // null: the host has no memory left
  Shadow shadow;
};

std::string SpecName(const TensorSpec& spec) {
  return fmt::format("{} tensor {}", MemoryName(spec.memory), spec.name);
}

int64_t PhysicalBytes(const Machine& machine, Memory memory) {
  return memory == Memory::kSbuf ? machine.sbuf_partition_bytes
                                 : machine.psum_banks * machine.psum_bank_bytes;
}

int64_t UsableBytes(const Machine& machine, Memory memory) {
  return memory == Memory::kSbuf ? machine.sbuf_usable_partition_bytes
                                 : machine.psum_banks * machine.psum_bank_bytes;
}

}  // namespace

Core::Core(std::shared_ptr<const Machine> machine, const CoreOptions& options, int rank,
           std::shared_ptr<Hbm> hbm)
    : machine_(std::move(machine)),
      options_(options),
      rank_(rank),
      hbm_(hbm ? std::move(hbm) : std::make_shared<Hbm>(1, machine_->hbm_bytes)),
      sources_(std::make_shared<SourceTable>()),
      next_tensor_(static_cast<TensorId>(rank)),
      state_(std::make_unique<ExecuteState>(options.seed)) {}

Core::~Core() { End(); }

void Core::End() { hbm_->End(rank_); }

Status Core::CheckSpec(const TensorSpec& spec) const {
  if (spec.partitions < 1 || spec.partition_bytes < 1)
    return KernelError(ErrorClass::kShape,
                       "{} has {} partitions of {} bytes; expected at least one", SpecName(spec),
                       spec.partitions, spec.partition_bytes);
  constexpr int64_t kMost = int64_t{1} << 50;
  if (spec.partition_bytes > kMost / spec.partitions)
    return KernelError(ErrorClass::kCapacity, "{} is larger than every memory", SpecName(spec));
  if (!IsOnChip(spec.memory)) return {};
  if (spec.partitions > machine_->partitions)
    return KernelError(ErrorClass::kPartitions,
                       "{} has {} partitions; there are {}: its first dimension must be smaller",
                       SpecName(spec), spec.partitions, machine_->partitions);
  if (const int64_t usable = UsableBytes(*machine_, spec.memory); spec.partition_bytes > usable)
    return KernelError(
        ErrorClass::kCapacity,
        "{} needs {} bytes a partition, of {} that a kernel can use; make it smaller",
        SpecName(spec), spec.partition_bytes, usable);
  if (!spec.address) return {};
  const Address& address = *spec.address;
  if (const int64_t element = DTypeBytes(spec.dtype); address.byte % element != 0)
    return KernelError(ErrorClass::kCapacity,
                       "{} begins at byte {}; expected a multiple of {}, the size of its elements",
                       SpecName(spec), address.byte, element);
  const int64_t physical = PhysicalBytes(*machine_, spec.memory);
  if (address.partition < 0 || address.byte < 0 ||
      address.partition + spec.partitions > machine_->partitions ||
      address.byte + spec.partition_bytes > physical)
    return KernelError(ErrorClass::kCapacity,
                       "{} at address ({}, {}) needs {} partitions of {} bytes; {} has {} of {}",
                       SpecName(spec), address.partition, address.byte, spec.partitions,
                       spec.partition_bytes, MemoryName(spec.memory), machine_->partitions,
                       physical);
  return {};
}

void Core::PlaceAt(Tensor& tensor, const Address& address) {
  std::shared_ptr<void>& memory = physical_[tensor.memory == Memory::kSbuf ? 0 : 1];
  if (!memory)
    memory = std::make_shared<Storage>(tensor.memory, machine_->partitions,
                                       PhysicalBytes(*machine_, tensor.memory),
                                       !options_.check_uninitialized);
  Storage& storage = *static_cast<Storage*>(memory.get());
  tensor.data = storage.bytes + address.partition * storage.stride + address.byte;
  tensor.data_stride = storage.stride;
  tensor.shadow = &storage.shadow;
  tensor.keep = memory;
  if (tensor.memory != Memory::kPsum) return;
  struct Own {
    std::shared_ptr<void> memory;
    Shadow shadow;
  };
  auto own = std::make_shared<Own>(
      memory, Shadow(tensor.memory, tensor.partitions, tensor.partition_bytes));
  tensor.own_shadow = &own->shadow;
  tensor.keep = std::move(own);
}

Result<std::shared_ptr<Tensor>> Core::MakeTensor(const TensorSpec& spec) {
  if (spec.memory == Memory::kHbm) {
    const Status fits = hbm_->Reserve(spec.partitions * spec.partition_bytes, spec.name);
    if (!fits.ok()) return fits;
  }
  auto tensor = std::make_shared<Tensor>();
  tensor->id = next_tensor_;
  next_tensor_ += static_cast<TensorId>(hbm_->cores());  // unique among the cores
  tensor->memory = spec.memory;
  tensor->shared = spec.shared;
  tensor->is_register = spec.is_register;
  tensor->dtype = spec.dtype;
  tensor->partitions = static_cast<int>(spec.partitions);
  tensor->partition_bytes = spec.partition_bytes;
  tensor->address = spec.address;
  tensor->name = spec.name;
  tensor->source = spec.source;
  if (!options_.values) return tensor;
  if (spec.address) {
    PlaceAt(*tensor, *spec.address);
    return tensor;
  }
  auto storage = std::make_shared<Storage>(spec.memory, spec.partitions, spec.partition_bytes,
                                           !options_.check_uninitialized);
  if (!storage->bytes) {
    if (spec.memory == Memory::kHbm) hbm_->Unreserve(spec.partitions * spec.partition_bytes);
    return KernelError(ErrorClass::kCapacity,
                       "{}: this host has not {} bytes for it; use smaller inputs", SpecName(spec),
                       storage->size);
  }
  tensor->data = storage->bytes;
  tensor->data_stride = storage->stride;
  tensor->shadow = &storage->shadow;
  tensor->keep = std::move(storage);
  return tensor;
}

Result<Tensor*> Core::Allocate(const TensorSpec& spec) {
  hbm_->TakeTurn(rank_);
  if (Status status = CheckSpec(spec); !status.ok())
    return Status(status.code(), status.message() + AtSource(spec.source));
  const bool common = spec.shared && hbm_->cores() > 1;
  std::shared_ptr<Tensor> tensor = common ? hbm_->FindShared(rank_) : nullptr;
  if (tensor && tensor->partition_bytes != spec.partition_bytes)
    return KernelError(
        ErrorClass::kShape,
        "{} has {} bytes on core {} and {} on the other; both cores must declare the "
        "same shared tensors in the same order{}",
        SpecName(spec), spec.partition_bytes, rank_, tensor->partition_bytes,
        AtSource(spec.source));
  if (!tensor) {
    WT_ASSIGN_OR_RETURN(tensor, MakeTensor(spec));
    if (common) hbm_->Publish(rank_, tensor);
  }
  Tensor* result = tensor.get();
  tensors_[result->id] = std::move(tensor);
  for (CoreObserver* observer : observers_) observer->OnAllocate(*result);
  return result;
}

Result<Tensor*> Core::AllocateFrom(const TensorSpec& spec, const void* bytes) {
  WT_ASSIGN_OR_RETURN(Tensor * tensor, Allocate(spec));
  if (bytes == nullptr || !options_.values) return tensor;
  // A pair's shared tensor has its bytes from the core that came first, which may have written
  // others since. Ids tell whose it is.
  if (tensor->id % static_cast<TensorId>(hbm_->cores()) != static_cast<TensorId>(rank_))
    return tensor;
  for (int64_t row = 0; row < tensor->partitions; ++row)
    std::memcpy(tensor->data + row * tensor->data_stride,
                static_cast<const std::byte*>(bytes) + row * tensor->partition_bytes,
                static_cast<size_t>(tensor->partition_bytes));
  AccessPattern all;
  all.tensor = tensor;
  all.dtype = DType::kU8;
  all.num_dims = 2;
  all.dims[0] = {tensor->memory == Memory::kHbm ? tensor->partition_bytes : 1, tensor->partitions};
  all.dims[1] = {1, tensor->partition_bytes};
  MarkWritten(all);
  return tensor;
}

void Core::Release(Tensor* tensor) {
  for (CoreObserver* observer : observers_) observer->OnRelease(*tensor);
  if (tensor->memory == Memory::kHbm && !(tensor->shared && hbm_->cores() > 1))
    hbm_->Unreserve(tensor->partitions * tensor->partition_bytes);
  tensors_.erase(tensor->id);
}

std::string Core::AtSource(SourceId source) const {
  const std::string place = sources_->Describe(source);
  return place.empty() ? "" : fmt::format(" (at {})", place);
}

Status Core::Check(Instr& instr) {
  if (options_.max_instructions > 0 && num_instructions_ >= options_.max_instructions)
    return KernelError(ErrorClass::kLimit,
                       "{}: the kernel has issued {} instructions, the most allowed",
                       instr.def->name, num_instructions_);
  CompleteInstr(instr);
  return CheckInstr(*machine_, instr);
}

Status Core::Issue(Instr& instr) {
  hbm_->TakeTurn(rank_);
  Status status = Check(instr);
  if (status.ok() && options_.values) {
    ExecuteContext context(*this, instr);
    status = context.Prepare();
    if (status.ok()) status = instr.def->execute(context, instr);
  }
  if (!status.ok()) return Status(status.code(), status.message() + AtSource(instr.source));
  instr.number = ++num_instructions_;
  for (CoreObserver* observer : observers_) observer->OnInstr(*machine_, instr);
  return {};
}

Result<int64_t> Core::ReadScalar(const AccessPattern& pattern) {
  hbm_->TakeTurn(rank_);
  if (!options_.values)
    return KernelError(ErrorClass::kUnsupported,
                       "reading {} needs values; run-time loops cannot be timed by shapes alone",
                       Describe(pattern));
  WT_RETURN_IF_ERROR(CheckBounds(pattern, "scalar"));
  if (pattern.elements() != 1)
    return KernelError(ErrorClass::kShape, "{} has {} elements; expected one", Describe(pattern),
                       pattern.elements());
  if (options_.check_uninitialized && FirstUnwritten(pattern))
    return KernelError(ErrorClass::kUninitialized, "{} is read and nothing has written it",
                       Describe(pattern));
  int64_t value = 0;
  LoadInts(pattern.dtype, Walk{pattern.Merged(), {}, false}.Row(0), 1, 1, &value);
  return value;
}

}  // namespace wt::chip
