// TensorStore: the persistent tensors of a model by name - parameters, gradients, optimiser state -
// shared by the programs that train, evaluate and sample it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "nn/step_program.h"

namespace wt::nn {

// Zeroed memory, aligned to 64 bytes, in huge pages where the system has them.
class Buffer {
 public:
  Buffer() = default;
  // Fails with kCapacity when the system has no such memory.
  static Result<Buffer> Allocate(int64_t bytes);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  int64_t bytes_ = 0;
};

struct StoredTensor {
  ValueSpec spec;
  Role role = Role::kParameter;
  Buffer buffer;
};

class TensorStore {
 public:
  // Makes the persistent tensors of `program` that are not there yet, zeroed. A tensor of the same
  // name and another shape or dtype is a kMismatch error.
  Status Prepare(const StepProgram& program);
  // Fills parameters that `program` declares from their Init; the draw depends on seed and name
  // alone.
  void Initialize(const StepProgram& program, uint64_t seed);

  StoredTensor* Find(const std::string& name);
  const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }
  int64_t bytes() const;

 private:
  std::map<std::string, StoredTensor> tensors_;
};

}  // namespace wt::nn
