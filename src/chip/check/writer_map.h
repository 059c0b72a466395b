// Who wrote each byte of the tensors in HBM: for a wrong element, the store that put it there and
// the instruction that had made its value.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "chip/core.h"

namespace wt::chip {

struct WrittenBy {
  const char* instr = "";  // the one that wrote HBM
  SourceId source = 0;
  const char* producer = "";  // the one that had written what was stored; "" when nothing had
  SourceId producer_source = 0;
};

class WriterMap : public CoreObserver {
 public:
  void OnAllocate(const Tensor&) override {}
  void OnRelease(const Tensor& tensor) override;
  void OnInstr(const Machine& machine, const Instr& instr) override;

  // The last writer of a byte of an HBM tensor; null when no instruction wrote it.
  // Tensors go by their bytes (Tensor::data), since those of shared HBM have a name on each core.
  const WrittenBy* Find(const void* tensor, int64_t byte) const;

 private:
  struct Piece {
    int64_t end = 0;
    WrittenBy writer;
  };
  using Pieces = std::map<int64_t, Piece>;  // by first byte; disjoint
  static void Write(Pieces* pieces, int64_t begin, int64_t end, const WrittenBy& writer);
  WrittenBy WriterOf(const Instr& instr) const;

  std::unordered_map<const void*, Pieces> hbm_;
  std::unordered_map<TensorId, WrittenBy> on_chip_;  // the last writer of any of its bytes
};

}  // namespace wt::chip
