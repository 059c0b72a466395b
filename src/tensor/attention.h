// Causal attention, forward and backward, without ever holding the [time, time] scores: blocks of
// queries meet blocks of keys, with a running softmax (Dao et al., FlashAttention, 2022) on
// block_gemm.h.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace wt::tensor {

struct AttentionShape {
  int64_t batch, time;
  int64_t heads, kv_heads, head_dim;  // heads is a multiple of kv_heads (MHA, GQA, MQA)
  int64_t window;  // query t sees keys t - window .. t; window >= time - 1 is full causal attention
  float scale;     // scores are scale * q.k
};

// q, o: [batch, time, heads, head_dim]; k, v: [batch, time, kv_heads, head_dim]; all of `dtype`
// (f32, bf16). log_sum_exp: f32 [batch, heads, time], natural log of the softmax denominator, for
// the backward pass.
void AttentionForward(const AttentionShape& shape, DType dtype, const void* q, const void* k,
                      const void* v, void* o, float* log_sum_exp);

// Gradients of the same shapes and dtype as q, k, v. `o` and `log_sum_exp` are the forward results.
void AttentionBackward(const AttentionShape& shape, DType dtype, const void* q, const void* k,
                       const void* v, const void* o, const float* log_sum_exp, const void* d_o,
                       void* d_q, void* d_k, void* d_v);

// Plain twins in double, for tests.
void AttentionForwardReference(const AttentionShape& shape, DType dtype, const void* q,
                               const void* k, const void* v, void* o, float* log_sum_exp);
void AttentionBackwardReference(const AttentionShape& shape, DType dtype, const void* q,
                                const void* k, const void* v, const void* d_o, void* d_q, void* d_k,
                                void* d_v);

}  // namespace wt::tensor
