// Aligned memory; large buffers ask Linux for huge pages, as packed operands are read end to end.
#include "tensor/scratch.h"

#include <cstdlib>
#include <cstring>

#include "base/status.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace wt::tensor {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kHugePage = int64_t{2} << 20;

void* Allocate(int64_t bytes) {
  const int64_t alignment = bytes >= kHugePage ? kHugePage : kLine;
  const int64_t size = (bytes + alignment - 1) / alignment * alignment;
  void* data = std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(size));
  WT_CHECK(data != nullptr, "{} bytes of working memory for a matrix product", size);
#if defined(__linux__)
  if (bytes >= kHugePage) madvise(data, static_cast<size_t>(size), MADV_HUGEPAGE);
#endif
  return data;
}

}  // namespace

Scratch::~Scratch() { std::free(data_); }

void* Scratch::Reserve(int64_t bytes) {
  if (bytes > bytes_ || data_ == nullptr) {
    std::free(data_);
    bytes_ = bytes > kLine ? bytes : kLine;
    data_ = Allocate(bytes_);
  }
  return data_;
}

}  // namespace wt::tensor
