// The head over chunks of rows: a product for the logits, softmax row by row, two products for the
// gradients, then the next chunk.
#include "tensor/cross_entropy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tensor/check.h"
#include "tensor/matmul.h"
#include "tensor/row_ops.h"
#include "tensor/scratch.h"
#include "tensor/softmax.h"
#include "tensor/split.h"

namespace wt::tensor {
namespace {

using PerOffset = std::array<double, kMaxPredict>;

// 16 MiB of fp32 logits, but enough rows that adding to d_w stays cheap beside the products.
int64_t ChunkRows(int64_t vocab) {
  return std::clamp<int64_t>((int64_t{1} << 22) / vocab, 256, 512);
}

// The target of offset k at row r, or -1.
int32_t TargetOf(const HeadLossShape& shape, const int32_t* targets, int64_t r, int64_t k) {
  if (r % shape.time + k >= shape.time) return -1;
  return std::max(targets[r + k], -1);
}

PerOffset CountValid(const HeadLossShape& shape, const int32_t* targets) {
  PerOffset counts{};
  for (int64_t r = 0; r < shape.batch * shape.time; ++r) {
    WT_CHECK(targets[r] < shape.vocab, "target {}, expected below {}", targets[r], shape.vocab);
    for (int k = 0; k < shape.predict; ++k) counts[k] += TargetOf(shape, targets, r, k) >= 0;
  }
  return counts;
}

// What one run over the chunks computes; outputs that are not wanted are null.
struct Run {
  const HeadLossShape& shape;
  const HeadLossInputs& in;
  PerOffset coef{};      // upstream * weight / valid count
  Array d_x;             // empty: no gradients
  float* d_w = nullptr;  // may be null
  float* logits;         // [chunk, vocab]
  float* row_nll;        // [chunk, predict]
};

// Replaces the gradient at the row's targets, where softmax alone is not all of it. Computed from
// the fp32 logits kept in `at_target`, so that bf16 rounds once.
void CorrectTargets(const Run& run, const int32_t* target, const float* at_target, double total,
                    float lse, Array out) {
  for (int k = 0; k < run.shape.predict; ++k) {
    if (target[k] < 0) continue;
    double hits = 0;
    for (int j = 0; j < run.shape.predict; ++j) hits += target[j] == target[k] ? run.coef[j] : 0.0;
    const double tanh = run.shape.softcap > 0 ? at_target[k] / run.shape.softcap : 0.0;
    const double p = std::exp(static_cast<double>(at_target[k]) - lse);
    const double value = (total * p - hits) * (1 - tanh * tanh);
    StoreElement(out, target[k], static_cast<float>(value));
  }
}

// Row r of the batch: z becomes the capped logits, then (when wanted) their gradient, in the
// dtype of x at the same place. nll gets one number an offset.
void RunRow(const Run& run, int64_t r, float* z, float* nll) {
  const int64_t n = run.shape.vocab;
  int32_t target[kMaxPredict];
  float at_target[kMaxPredict];
  double total = 0;
  const float lse = SoftcapLogSumExp(n, run.shape.softcap, z);
  for (int k = 0; k < run.shape.predict; ++k) {
    target[k] = TargetOf(run.shape, run.in.targets, r, k);
    at_target[k] = target[k] < 0 ? 0.0f : z[target[k]];
    nll[k] = target[k] < 0 ? 0.0f : lse - at_target[k];
    if (target[k] >= 0) total += run.coef[k];
  }
  if (!run.d_x) return;
  const Array out{z, run.in.x.dtype};
  SoftmaxGradient(n, run.shape.softcap, lse, static_cast<float>(total), z, out);
  CorrectTargets(run, target, at_target, total, lse, out);
}

// d_x and d_w of the rows from `first` on, from the logits' gradient.
void BackwardProducts(const Run& run, int64_t first, int64_t rows) {
  const int64_t width = run.shape.width, vocab = run.shape.vocab;
  const DType dtype = run.in.x.dtype;
  // Rows keep the spacing of the fp32 logits they replaced.
  const int64_t stride = vocab * static_cast<int64_t>(sizeof(float)) / DTypeBytes(dtype);
  const ConstMatrix d_logits{run.logits, dtype, rows, vocab, stride, 1};
  const ConstMatrix w = RowMajor(run.in.w.data, run.in.w.dtype, vocab, width);
  const Array d_x = Offset(run.d_x, first * width);
  MatMul(d_logits, w, MutableRowMajor(d_x.data, d_x.dtype, rows, width));
  if (run.d_w == nullptr) return;
  const ConstMatrix x = RowMajor(Offset(run.in.x, first * width).data, dtype, rows, width);
  MatMul(d_logits.Transposed(), x, MutableRowMajor(run.d_w, DType::kF32, vocab, width), true);
}

void LogitsProduct(ConstArray x, ConstArray w, int64_t rows, int64_t width, int64_t vocab,
                   float* logits) {
  MatMul(RowMajor(x.data, x.dtype, rows, width),
         RowMajor(w.data, w.dtype, vocab, width).Transposed(),
         MutableRowMajor(logits, DType::kF32, rows, vocab));
}

// Adds the chunk's nll to `sums` and copies those of offset 0 out.
void TakeLosses(const Run& run, int64_t first, int64_t rows, PerOffset* sums, float* nll) {
  const int predict = run.shape.predict;
  for (int64_t i = 0; i < rows; ++i) {
    for (int k = 0; k < predict; ++k) (*sums)[k] += run.row_nll[i * predict + k];
    if (nll != nullptr) nll[first + i] = run.row_nll[i * predict];
  }
}

PerOffset RunChunks(const Run& run, float* nll) {
  const HeadLossShape& shape = run.shape;
  const int64_t all = shape.batch * shape.time, chunk = ChunkRows(shape.vocab);
  PerOffset sums{};
  for (int64_t first = 0; first < all; first += chunk) {
    const int64_t rows = std::min(chunk, all - first);
    LogitsProduct(Offset(run.in.x, first * shape.width), run.in.w, rows, shape.width, shape.vocab,
                  run.logits);
    SplitRows(rows, shape.vocab, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        RunRow(run, first + i, run.logits + i * shape.vocab, run.row_nll + i * shape.predict);
      }
    });
    TakeLosses(run, first, rows, &sums, nll);
    if (run.d_x) BackwardProducts(run, first, rows);
  }
  return sums;
}

double RunHead(const HeadLossShape& shape, const HeadLossInputs& in, float upstream, float* nll,
               Array d_x, float* d_w) {
  CheckFloat({in.x, in.w});
  CheckOneType({in.x, d_x});
  WT_CHECK(shape.predict >= 1 && shape.predict <= kMaxPredict, "predict {}, expected 1 .. {}",
           shape.predict, kMaxPredict);
  thread_local Scratch scratch;
  const PerOffset counts = CountValid(shape, in.targets);
  Run run{shape, in, {}, d_x, d_w, nullptr, nullptr};
  run.logits = static_cast<float*>(scratch.Reserve(HeadLossScratchBytes(shape)));
  run.row_nll = run.logits + ChunkRows(shape.vocab) * shape.vocab;
  for (int k = 0; k < shape.predict; ++k) {
    if (counts[k] > 0) run.coef[k] = static_cast<double>(upstream) * in.weights[k] / counts[k];
  }
  const PerOffset sums = RunChunks(run, nll);
  double loss = 0;
  for (int k = 0; k < shape.predict; ++k) {
    if (counts[k] > 0) loss += in.weights[k] * sums[k] / counts[k];
  }
  return loss;
}

}  // namespace

int64_t HeadLossScratchBytes(const HeadLossShape& shape) {
  return ChunkRows(shape.vocab) * (shape.vocab + shape.predict) *
         static_cast<int64_t>(sizeof(float));
}

void HeadLossForward(const HeadLossShape& shape, const HeadLossInputs& in, float* loss,
                     float* nll) {
  *loss = static_cast<float>(RunHead(shape, in, 1.0f, nll, {}, nullptr));
}

void HeadLossBackward(const HeadLossShape& shape, const HeadLossInputs& in, float upstream,
                      Array d_x, float* d_w) {
  RunHead(shape, in, upstream, nullptr, d_x, d_w);
}

void HeadLossForwardBackward(const HeadLossShape& shape, const HeadLossInputs& in, float upstream,
                             float* loss, float* nll, Array d_x, float* d_w) {
  *loss = static_cast<float>(RunHead(shape, in, upstream, nll, d_x, d_w));
}

void LogitsForward(int64_t rows, int64_t width, int64_t vocab, float softcap, ConstArray x,
                   ConstArray w, float* logits) {
  CheckFloat({x, w});
  LogitsProduct(x, w, rows, width, vocab, logits);
  if (softcap <= 0) return;
  SplitElements(rows * vocab, [&](int64_t begin, int64_t end) {
    SoftcapRow(end - begin, softcap, logits + begin);
  });
}

}  // namespace wt::tensor
