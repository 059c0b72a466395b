// Working memory of the matrix kernels: grows to the largest request and is kept, so that a step
// after the first allocates nothing. Used as thread_local.
#pragma once

#include <cstdint>

namespace wt::tensor {

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  // At least `bytes`, aligned to 64 bytes. Undefined contents if it had to grow, else the old ones.
  void* Reserve(int64_t bytes);
  float* Floats(int64_t n) { return static_cast<float*>(Reserve(n * 4)); }

  // What was reserved last.
  void* data() const { return data_; }
  float* floats() const { return static_cast<float*>(data_); }

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace wt::tensor
