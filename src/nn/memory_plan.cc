#include "nn/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "nn/op.h"

namespace wt::nn {
namespace {

// One piece of the arena: a value, or several that follow each other in place.
struct Block {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;  // node indices, inclusive
  int64_t offset = -1;
};

struct Lives {
  std::vector<int64_t> first, last;  // per value; first is -1 for values that no node makes
};

Lives FindLives(const StepProgram& program) {
  Lives lives{std::vector<int64_t>(program.values.size(), -1),
              std::vector<int64_t>(program.values.size(), -1)};
  for (size_t n = 0; n < program.nodes.size(); ++n) {
    const auto index = static_cast<int64_t>(n);
    for (ValueId id : program.nodes[n].outputs) {
      int64_t& first = lives.first[static_cast<size_t>(id)];
      if (first < 0) first = index;
      lives.last[static_cast<size_t>(id)] = index;
    }
    for (ValueId id : program.nodes[n].inputs) {
      if (id != kNoValue) lives.last[static_cast<size_t>(id)] = index;
    }
  }
  for (ValueId id : program.results) {
    lives.last[static_cast<size_t>(id)] = static_cast<int64_t>(program.nodes.size());
  }
  return lives;
}

bool InArena(const StepProgram& program, size_t id) {
  return program.values[id].role == Role::kActivation;
}

// The value that node's output 0 may overwrite, or kNoValue.
ValueId InPlaceInput(const StepProgram& program, const Lives& lives, size_t n) {
  const Node& node = program.nodes[n];
  const int slot = node.op->in_place_input;
  if (slot < 0 || static_cast<size_t>(slot) >= node.inputs.size()) return kNoValue;
  const ValueId input = node.inputs[static_cast<size_t>(slot)];
  if (input == kNoValue || !InArena(program, static_cast<size_t>(input))) return kNoValue;
  const bool dies_here = lives.last[static_cast<size_t>(input)] == static_cast<int64_t>(n);
  const bool read_once = std::count(node.inputs.begin(), node.inputs.end(), input) == 1;
  const bool fits = program.value(input).bytes() == program.value(node.outputs[0]).bytes();
  return dies_here && read_once && fits ? input : kNoValue;
}

// Values to blocks; in-place chains share one.
std::vector<size_t> MakeBlocks(const StepProgram& program, const Lives& lives,
                               std::vector<Block>* blocks) {
  constexpr size_t kNone = ~size_t{0};
  std::vector<size_t> block_of(program.values.size(), kNone);
  for (size_t n = 0; n < program.nodes.size(); ++n) {
    const ValueId reused = InPlaceInput(program, lives, n);
    for (size_t k = 0; k < program.nodes[n].outputs.size(); ++k) {
      const auto id = static_cast<size_t>(program.nodes[n].outputs[k]);
      if (!InArena(program, id) || block_of[id] != kNone) continue;
      if (k == 0 && reused != kNoValue) {
        block_of[id] = block_of[static_cast<size_t>(reused)];
        Block& block = (*blocks)[block_of[id]];
        block.last = std::max(block.last, lives.last[id]);
        continue;
      }
      const int64_t bytes = program.values[id].bytes();
      const int64_t padded =
          (bytes + MemoryPlan::kAlignment - 1) / MemoryPlan::kAlignment * MemoryPlan::kAlignment;
      block_of[id] = blocks->size();
      blocks->push_back({padded, lives.first[id], lives.last[id], -1});
    }
  }
  return block_of;
}

// The lowest offset at which `block` meets no placed block that lives at the same time. `placed` is
// sorted by offset.
int64_t LowestGap(const std::vector<const Block*>& placed, const Block& block) {
  int64_t offset = 0;
  for (const Block* other : placed) {
    if (other->last < block.first || block.last < other->first) continue;
    if (offset + block.bytes <= other->offset) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

// Largest first, each at the lowest free offset.
int64_t PlaceBlocks(std::vector<Block>* blocks) {
  std::vector<size_t> order(blocks->size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return (*blocks)[a].bytes > (*blocks)[b].bytes; });
  std::vector<const Block*> placed;
  int64_t arena = 0;
  for (size_t index : order) {
    Block& block = (*blocks)[index];
    block.offset = LowestGap(placed, block);
    arena = std::max(arena, block.offset + block.bytes);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), &block,
                         [](const Block* a, const Block* b) { return a->offset < b->offset; }),
        &block);
  }
  return arena;
}

void FindPeak(const std::vector<Block>& blocks, size_t nodes, MemoryPlan* plan) {
  std::vector<int64_t> change(nodes + 2, 0);
  for (const Block& block : blocks) {
    change[static_cast<size_t>(block.first)] += block.bytes;
    change[static_cast<size_t>(block.last) + 1] -= block.bytes;
  }
  int64_t live = 0;
  for (size_t n = 0; n < nodes; ++n) {
    live += change[n];
    if (live > plan->peak_live_bytes) plan->peak_live_bytes = live, plan->peak_node = n;
  }
}

}  // namespace

MemoryPlan PlanMemory(const StepProgram& program) {
  const Lives lives = FindLives(program);
  std::vector<Block> blocks;
  const std::vector<size_t> block_of = MakeBlocks(program, lives, &blocks);
  MemoryPlan plan;
  plan.arena_bytes = PlaceBlocks(&blocks);
  FindPeak(blocks, program.nodes.size(), &plan);
  plan.offset.assign(program.values.size(), -1);
  for (size_t id = 0; id < block_of.size(); ++id) {
    if (block_of[id] != ~size_t{0}) plan.offset[id] = blocks[block_of[id]].offset;
  }
  return plan;
}

}  // namespace wt::nn
