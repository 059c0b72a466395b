// Memory of released tensors, kept for new ones of the same size: the system gives and takes memory
// by pages, which costs more than writing a tile. One for the process, so that a kernel that is run
// again (checks, suites) finds the pages of the run before.
#pragma once

#include <cstddef>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
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

// For vectors of bytes that come and go with kernels. What resize() adds is not cleared.
template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(size_t n) {
    std::byte* block = BlockPool::ForTensors().Take(Bytes(n));
    if (!block) throw std::bad_alloc();
    return reinterpret_cast<T*>(block);
  }
  void deallocate(T* block, size_t n) {
    BlockPool::ForTensors().Give(reinterpret_cast<std::byte*>(block), Bytes(n));
  }
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
  static size_t Bytes(size_t n) { return (n * sizeof(T) + 63) / 64 * 64; }
  bool operator==(const PoolAllocator&) const { return true; }
};
using PoolBytes = std::vector<std::byte, PoolAllocator<std::byte>>;

}  // namespace wt::chip
