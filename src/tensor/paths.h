// Sequences that share their past: a pool has one slot a token, and a path names the slots of a
// sequence's positions 0, 1, 2, … in order. Sequences that begin alike name the same slots. What
// mixes a token with those before it (attention, convolution, smear) reads them through its path.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/attention.h"
#include "tensor/conv.h"
#include "tensor/smear.h"

namespace wt::tensor {

// Consecutive rows of a batch that follow each other in one sequence.
struct PathSegment {
  int32_t first_row, rows;
  int32_t first_position;  // of first_row
  int32_t path_begin;      // paths[path_begin + p] is the slot of position p, up to the last row's
};

struct Paths {
  std::span<const PathSegment> segments;  // cover the batch's rows in order
  const int32_t* slots = nullptr;

  const int32_t* PathOf(const PathSegment& s) const { return slots + s.path_begin; }
};

// Copies row i of the batch, `bytes` long, to the slot that its path names.
void StoreInSlots(const Paths& paths, int64_t bytes, const void* rows, void* pool);

// q, o: [rows, heads, head_dim]; keys, values: pools [slots, kv_heads, head_dim] that hold the
// batch's own rows already; all of `dtype`. batch and time of `shape` are not used. Each row of o
// has the bits that AttentionForward gives on the whole sequence.
void PathAttention(const AttentionShape& shape, DType dtype, const Paths& paths, const void* q,
                   const void* keys, const void* values, void* o);

// conv.h and smear.h with the rows before taken from the pool [slots, width].
void PathConv(const ConvShape& shape, const Paths& paths, ConstArray pool, const float* w, Array y);
void PathSmear(const SmearShape& shape, const Paths& paths, ConstArray pool, ConstArray g,
               const float* lambda, Array y);

}  // namespace wt::tensor
