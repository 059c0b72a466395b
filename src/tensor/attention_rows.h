// The element-wise halves of attention.cc, between its matrix products: running softmax, the
// derivative of softmax, and the final rounding. Vectorised with Highway, compiled for each
// instruction set and chosen at run time.
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

// Score blocks have rows of this many elements, of which those past the block's columns are padding
// that the functions below may read and write.
constexpr int64_t kAttentionBlock = 96;

// A block of scores of rows x cols, in rows of kAttentionBlock: scores become exp2(scale * score -
// row_max); row_max and row_sum are brought up to date, and the rows of `out` ([rows, head_dim],
// the sums so far) are scaled when a row's maximum grew.
void SoftmaxBlock(float scale_log2, int64_t rows, int64_t cols, float* scores, float* row_max,
                  float* row_sum, float* out, int64_t head_dim);

// On transposed blocks of rows (keys) x cols (queries): probs enters as raw scores and leaves as
// exp2(scale * score - lse_log2[col]); grads enters as d(probs) and leaves as
// probs * (d(probs) - delta[col]), the derivative by the scaled scores.
void SoftmaxGradBlock(float scale_log2, int64_t rows, int64_t cols, const float* lse_log2,
                      const float* delta, float* probs, float* grads);

// sum_j a[i, j] * b[i, j] for each row; both of one dtype.
void RowDots(const ConstMatrix& a, const ConstMatrix& b, float* dots);

// to[i, j] = from[i, j] * row_scale[i] (or * scale where row_scale is null), rounded once.
void StoreScaled(const float* from, int64_t ld, const float* row_scale, float scale,
                 const Matrix& to);

}  // namespace wt::tensor
