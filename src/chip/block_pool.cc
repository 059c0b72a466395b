#include "chip/block_pool.h"

#include <cstdlib>

namespace wt::chip {

BlockPool::~BlockPool() {
  for (auto& [size, blocks] : free_) {
    for (std::byte* block : blocks) std::free(block);
  }
}

std::byte* BlockPool::Take(size_t size) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = free_.find(size); found != free_.end() && !found->second.empty()) {
      std::byte* block = found->second.back();
      found->second.pop_back();
      kept_ -= size;
      return block;
    }
  }
  return static_cast<std::byte*>(std::aligned_alloc(64, size));
}

void BlockPool::Give(std::byte* block, size_t size) {
  const std::lock_guard lock(mutex_);
  if (size > most_kept_ - kept_) return std::free(block);
  free_[size].push_back(block);
  kept_ += size;
}

size_t BlockPool::kept() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

BlockPool& BlockPool::ForTensors() {
  constexpr size_t kMostKept = size_t{256} << 20;
  static BlockPool* pool = new BlockPool(kMostKept);  // outlives every tensor
  return *pool;
}

}  // namespace wt::chip
