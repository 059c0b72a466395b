// The language-model head: logits = x W^T, soft cap, cross entropy, and the gradients of all of it,
// over chunks of rows so that the [tokens, vocab] logits never exist as a whole. With several
// targets per position (multi-token prediction) the logits are shared.
//
//   z = x W^T (fp32);  logits = softcap * tanh(z / softcap), or z when softcap is 0
//   loss = sum over k < predict of weights[k] * mean over valid targets of nll_k
// The target of offset k at (b, t) is targets[b, t + k] (targets already are the next tokens, so
// k = 0 is the usual loss); it is valid when t + k < time and the target is not negative. Each
// offset's mean is over its own valid targets; an offset without any adds nothing.
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

struct HeadLossShape {
  int64_t batch = 1, time = 1, width = 0, vocab = 0;
  float softcap = 0;  // 0: none
  int predict = 1;    // 1 .. kMaxPredict
};
inline constexpr int kMaxPredict = 16;

// What all head calls read. x: [batch * time, width]; w: [vocab, width], each f32 or bf16; targets:
// [batch, time], below vocab (checked), negative where ignored; weights: [predict].
struct HeadLossInputs {
  ConstArray x, w;
  const int32_t* targets = nullptr;
  const float* weights = nullptr;
};

// *loss as above. nll: [batch * time], in nats, of offset 0, 0 where ignored; may be null.
void HeadLossForward(const HeadLossShape& shape, const HeadLossInputs& in, float* loss, float* nll);

// d_x: [batch * time, width], d_x = upstream * dloss/dx. d_w: f32 [vocab, width], accumulated (+=);
// may be null. Logits are computed again. Their gradient is rounded to the dtype of x before the
// two products, as on the chip.
void HeadLossBackward(const HeadLossShape& shape, const HeadLossInputs& in, float upstream,
                      Array d_x, float* d_w);

// Both at once, with one computation of the logits: what training calls.
void HeadLossForwardBackward(const HeadLossShape& shape, const HeadLossInputs& in, float upstream,
                             float* loss, float* nll, Array d_x, float* d_w);

// logits: f32 [rows, vocab], after the soft cap. x: [rows, width]; w: [vocab, width].
void LogitsForward(int64_t rows, int64_t width, int64_t vocab, float softcap, ConstArray x,
                   ConstArray w, float* logits);

// Bytes of the scratch that the calling thread keeps between HeadLoss calls of this shape.
int64_t HeadLossScratchBytes(const HeadLossShape& shape);

}  // namespace wt::tensor
