// Memory of released tensors, kept for new ones of the same size: the system gives and takes memory
// by pages, which costs more than writing a tile. One for the process, so that a kernel that is run
// again (checks, suites) finds the pages of the run before.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace wt::chip {

class BlockPool {
 public:
  explicit BlockPool(size_t most_kept) : most_kept_(most_kept) {}
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // `size` bytes, a multiple of 64, on such a boundary; not cleared. Null: the host has none left.
  std::byte* Take(size_t size);
  void Give(std::byte* block, size_t size);
  size_t kept() const;

  static BlockPool& ForTensors();

 private:
  mutable std::mutex mutex_;
  std::unordered_map<size_t, std::vector<std::byte*>> free_;
  size_t most_kept_, kept_ = 0;
};

}  // namespace wt::chip
