#include "chip/check/writer_map.h"

#include "chip/check/footprint.h"
#include "chip/isa.h"

namespace wt::chip {

WrittenBy WriterMap::WriterOf(const Instr& instr) const {
  WrittenBy writer{instr.def->name, instr.source};
  for (size_t i = 0; i < instr.operands.size(); ++i) {
    if (instr.roles[i] != Role::kRead) continue;
    const auto producer = on_chip_.find(instr.operands[i].tensor->id);
    if (producer == on_chip_.end()) continue;
    writer.producer = producer->second.instr;
    writer.producer_source = producer->second.source;
    break;
  }
  return writer;
}

void WriterMap::OnInstr(const Machine&, const Instr& instr) {
  const WrittenBy writer = WriterOf(instr);
  for (size_t i = 0; i < instr.operands.size(); ++i) {
    if (instr.roles[i] != Role::kWrite && instr.roles[i] != Role::kReadWrite) continue;
    const AccessPattern& pattern = instr.operands[i];
    if (pattern.tensor->memory != Memory::kHbm) {
      on_chip_[pattern.tensor->id] = writer;
      continue;
    }
    Pieces& pieces = hbm_[pattern.tensor->data];
    for (const Run& run : FootprintOf(pattern).runs) Write(&pieces, run.begin, run.end, writer);
  }
}

void WriterMap::OnRelease(const Tensor& tensor) {
  if (tensor.memory != Memory::kHbm) on_chip_.erase(tensor.id);
}

// Cuts what was there to the left and right of [begin, end) and puts the new piece in between.
void WriterMap::Write(Pieces* pieces, int64_t begin, int64_t end, const WrittenBy& writer) {
  auto it = pieces->upper_bound(begin);
  if (it != pieces->begin() && std::prev(it)->second.end > begin) --it;
  while (it != pieces->end() && it->first < end) {
    const int64_t old_begin = it->first;
    const Piece old = it->second;
    it = pieces->erase(it);
    if (old_begin < begin) (*pieces)[old_begin] = {begin, old.writer};
    if (old.end > end) {
      (*pieces)[end] = {old.end, old.writer};
      break;
    }
  }
  (*pieces)[begin] = {end, writer};
}

const WrittenBy* WriterMap::Find(const void* tensor, int64_t byte) const {
  const auto pieces = hbm_.find(tensor);
  if (pieces == hbm_.end()) return nullptr;
  auto it = pieces->second.upper_bound(byte);
  if (it == pieces->second.begin()) return nullptr;
  --it;
  return byte < it->second.end ? &it->second.writer : nullptr;
}

}  // namespace wt::chip
