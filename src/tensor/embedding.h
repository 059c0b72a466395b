// Table look-up by token id, and its gradient.
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

// y[i, :] = table[ids[i], :]. ids: [tokens], each in [0, vocab) (checked); table: [vocab, width];
// y: [tokens, width]. The dtypes of table and y may differ.
void EmbeddingForward(int64_t tokens, int64_t width, int64_t vocab, const int32_t* ids,
                      ConstArray table, Array y);

// d_table[ids[i], :] += dy[i, :], in the order of i. d_table: f32 [vocab, width].
void EmbeddingBackward(int64_t tokens, int64_t width, int64_t vocab, const int32_t* ids,
                       ConstArray dy, float* d_table);

}  // namespace wt::tensor
