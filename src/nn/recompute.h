// Recomputation: trades time for memory by running forward ops again in the backward pass instead
// of keeping their results.
#pragma once

#include <string>

#include "nn/graph.h"

namespace wt::nn {

enum class Recompute {
  kNone,   // keep everything the backward pass reads
  kCheap,  // run cheap ops again: norms, activations, rotary, residual mixes
  kBlock,  // keep only the inputs of blocks (Graph::Checkpoint) and run each block again
};
Result<Recompute> ParseRecompute(const std::string& name);

// Rewrites a differentiated graph's backward nodes to read recomputed copies. Values come out the
// same bit for bit.
void ApplyRecompute(Graph* graph, Recompute policy);

}  // namespace wt::nn
