#include "nn/tensor_store.h"

#include <sys/mman.h>

#include <utility>

#include "base/random.h"
#include "base/text_util.h"

namespace wt::nn {
namespace {

// Philox streams are numbers; a name's stream is its FNV-1a hash.
uint64_t StreamOf(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

void Fill(const Init& init, uint64_t seed, const Value& value, float* out) {
  Philox random(seed, StreamOf(value.name));
  const int64_t n = NumElements(value.shape);
  for (int64_t i = 0; i < n; ++i) {
    double unit = 0;
    switch (init.kind) {
      case Init::Kind::kConstant:
        break;
      case Init::Kind::kFirstRow:
        out[i] = static_cast<float>(i < value.shape.back() ? init.a : init.b);
        continue;
      case Init::Kind::kUniform:
        unit = 2.0 * static_cast<double>(random.NextUniform()) - 1.0;
        break;
      case Init::Kind::kNormal:
        unit = static_cast<double>(random.NextNormal());
        break;
      case Init::Kind::kRamp:
        unit = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0;
        break;
    }
    out[i] = static_cast<float>(init.a + init.b * unit);
  }
}

bool Persistent(Role role) {
  return role != Role::kActivation && role != Role::kInput && role != Role::kPool;
}

}  // namespace

Result<Buffer> Buffer::Allocate(int64_t bytes) {
  Buffer buffer;
  if (bytes == 0) return buffer;
  void* data = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return Error(Code::kCapacity,
                 "cannot allocate {}; use fewer train.rows_per_core or train.recompute = \"block\"",
                 FormatBytes(static_cast<double>(bytes)));
  }
  madvise(data, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  buffer.data_ = static_cast<std::byte*>(data);
  buffer.bytes_ = bytes;
  return buffer;
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Buffer::~Buffer() {
  if (data_) munmap(data_, static_cast<size_t>(bytes_));
}

Status TensorStore::Prepare(const StepProgram& program) {
  for (const Value& value : program.values) {
    if (!Persistent(value.role)) continue;
    if (const StoredTensor* known = Find(value.name)) {
      if (known->spec.shape == value.shape && known->spec.dtype == value.dtype) continue;
      return Error(Code::kMismatch, "tensor '{}' is {}{}; this program expects {}{}", value.name,
                   DTypeName(known->spec.dtype), ShapeText(known->spec.shape),
                   DTypeName(value.dtype), ShapeText(value.shape));
    }
    WT_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(value.bytes()));
    tensors_.emplace(value.name, StoredTensor{value, value.role, std::move(buffer)});
  }
  return {};
}

void TensorStore::Initialize(const StepProgram& program, uint64_t seed) {
  for (const Parameter& parameter : program.parameters) {
    const Value& value = program.value(parameter.value);
    StoredTensor* tensor = Find(value.name);
    WT_CHECK(tensor, "{} was not prepared", value.name);
    Fill(parameter.init, seed, value, reinterpret_cast<float*>(tensor->buffer.data()));
  }
}

StoredTensor* TensorStore::Find(const std::string& name) {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

int64_t TensorStore::bytes() const {
  int64_t total = 0;
  for (const auto& [name, tensor] : tensors_) total += tensor.buffer.bytes();
  return total;
}

}  // namespace wt::nn
