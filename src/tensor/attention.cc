// Attention by blocks of kAttentionBlock queries and as many keys. What meets many blocks is packed
// once per task; the parts between the products are in attention_rows.cc.
#include "tensor/attention.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "tensor/attention_rows.h"
#include "tensor/block_gemm.h"
#include "tensor/scratch.h"

namespace wt::tensor {
namespace {

constexpr int64_t kBlock = kAttentionBlock;
constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;
constexpr float kMasked = -INFINITY;
// Below every score, and finite so that a row that has seen no key yet gives exp2(-inf), not NaN.
constexpr float kNoMaximum = -1e30f;
constexpr int64_t kTasksPerThread = 4;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
// Whole vectors of the element-wise functions.
int64_t Padded(int64_t n) { return CeilDiv(n, 16) * 16; }

// One thread's working memory.
struct Buffers {
  Scratch keys, values, keys_t, query, query_t, d_out, d_out_t, probs, grads;  // packed
  Scratch scores, d_scores, rows, sums, d_keys, d_values;                      // f32
};
Buffers& ThreadBuffers() {
  thread_local Buffers buffers;
  return buffers;
}

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// Geometry shared by both directions: views of one head, blocks of time, masks.
class Blocks {
 public:
  Blocks(const AttentionShape& shape, DType dtype)
      : shape_(shape), dtype_(dtype), gemm_(ActiveBlockGemm(dtype == DType::kF32)) {
    WT_CHECK(dtype == DType::kF32 || dtype == DType::kBF16,
             "[attention] given {}, expected f32 or bf16", DTypeName(dtype));
    WT_CHECK(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0,
             "[attention] {} heads are not a multiple of {} kv heads", shape.heads, shape.kv_heads);
    WT_CHECK(shape.window >= 0, "[attention] window {}", shape.window);
  }

  int64_t Count() const { return CeilDiv(shape_.time, kBlock); }
  Range Times(int64_t block) const {
    return {block * kBlock, std::min(shape_.time, (block + 1) * kBlock)};
  }
  // The first block of keys that queries of this block see.
  int64_t FirstKeys(int64_t queries) const {
    return std::max<int64_t>(0, queries * kBlock - shape_.window) / kBlock;
  }
  bool NeedsMask(int64_t queries, int64_t keys) const {
    return keys == queries || Times(queries).end - 1 - Times(keys).begin > shape_.window;
  }

  // Rows of one head: [times, head_dim] of a [batch, time, heads, head_dim] tensor.
  ConstMatrix Rows(const void* tensor, int64_t heads, int64_t batch, int64_t head,
                   Range times) const {
    const int64_t at = ((batch * shape_.time + times.begin) * heads + head) * shape_.head_dim;
    return {static_cast<const char*>(tensor) + at * DTypeBytes(dtype_),
            dtype_,
            times.size(),
            shape_.head_dim,
            heads * shape_.head_dim,
            1};
  }
  Matrix MutableRows(void* tensor, int64_t heads, int64_t batch, int64_t head, Range times) const {
    const ConstMatrix m = Rows(tensor, heads, batch, head, times);
    return {const_cast<void*>(m.data), dtype_, m.rows, m.cols, m.row_stride};
  }

  int64_t ASlot(int64_t m, int64_t k) const { return Padded(gemm_.packed_a_bytes(m, k)) * 4; }
  int64_t BSlot(int64_t k, int64_t n) const { return Padded(gemm_.packed_b_bytes(k, n)) * 4; }

 protected:
  AttentionShape shape_;
  DType dtype_;
  const BlockGemm& gemm_;
};

// Columns [begin, end) of row r stay; the rest of the block's row becomes -inf.
void KeepColumns(float* row, int64_t begin, int64_t end) {
  std::fill(row, row + std::clamp<int64_t>(begin, 0, kBlock), kMasked);
  std::fill(row + std::clamp<int64_t>(end, 0, kBlock), row + kBlock, kMasked);
}

class Forward : public Blocks {
 public:
  Forward(const AttentionShape& shape, DType dtype, const void* q, const void* k, const void* v,
          void* o, float* log_sum_exp)
      : Blocks(shape, dtype), q_(q), k_(k), v_(v), o_(o), log_sum_exp_(log_sum_exp) {
    const int64_t heads = shape.batch * shape.heads;
    // A head alone is one task; more only to keep all threads busy.
    parts_ = std::clamp<int64_t>(CeilDiv(kTasksPerThread * Threads(), heads), 1, Count());
  }

  void Run() {
    ParallelFor(shape_.batch * shape_.heads * parts_, [this](int64_t task) { RunPart(task); });
  }

 private:
  void RunPart(int64_t task) {
    // The last queries see the most keys: they start first.
    const int64_t part = parts_ - 1 - task / (shape_.batch * shape_.heads);
    const int64_t per_part = CeilDiv(Count(), parts_);
    const Range queries = {std::min(Count(), part * per_part),
                           std::min(Count(), (part + 1) * per_part)};
    if (queries.size() <= 0) return;
    const int64_t id = task % (shape_.batch * shape_.heads);
    const int64_t batch = id / shape_.heads, head = id % shape_.heads;
    const int64_t first = FirstKeys(queries.begin);
    PackKeys(batch, head, {first, queries.end});
    for (int64_t i = queries.begin; i < queries.end; ++i) RunQueries(batch, head, i, first);
  }

  void PackKeys(int64_t batch, int64_t head, Range blocks) {
    const int64_t kv_head = head / (shape_.heads / shape_.kv_heads), d = shape_.head_dim;
    Buffers& buffers = ThreadBuffers();
    char* keys = static_cast<char*>(buffers.keys.Reserve(blocks.size() * BSlot(d, kBlock)));
    char* values = static_cast<char*>(buffers.values.Reserve(blocks.size() * BSlot(kBlock, d)));
    for (int64_t j = blocks.begin; j < blocks.end; ++j) {
      const Range times = Times(j);
      gemm_.pack_b(Rows(k_, shape_.kv_heads, batch, kv_head, times).Transposed(), keys);
      gemm_.pack_b(Rows(v_, shape_.kv_heads, batch, kv_head, times), values);
      keys += BSlot(d, kBlock);
      values += BSlot(kBlock, d);
    }
  }

  void RunQueries(int64_t batch, int64_t head, int64_t i, int64_t first_packed) {
    const int64_t d = shape_.head_dim;
    const Range times = Times(i);
    Buffers& buffers = ThreadBuffers();
    void* query = buffers.query.Reserve(ASlot(kBlock, d));
    gemm_.pack_a(Rows(q_, shape_.heads, batch, head, times), query);
    float* row_max = buffers.rows.Floats(2 * kBlock);
    float* row_sum = row_max + kBlock;
    float* sums = buffers.sums.Floats(kBlock * d);
    std::fill_n(row_max, kBlock, kNoMaximum);
    std::fill_n(row_sum, kBlock, 0.0f);
    std::fill_n(sums, kBlock * d, 0.0f);
    const char* keys = static_cast<const char*>(buffers.keys.data());
    const char* values = static_cast<const char*>(buffers.values.data());
    for (int64_t j = FirstKeys(i); j <= i; ++j) {
      MeetKeys(i, j, query, keys + (j - first_packed) * BSlot(d, kBlock),
               values + (j - first_packed) * BSlot(kBlock, d), row_max, row_sum, sums);
    }
    Finish(batch, head, times, row_max, row_sum, sums);
  }

  void MeetKeys(int64_t i, int64_t j, const void* query, const void* keys, const void* values,
                float* row_max, float* row_sum, float* sums) {
    const int64_t d = shape_.head_dim, rows = Times(i).size(), cols = Times(j).size();
    Buffers& buffers = ThreadBuffers();
    float* scores = buffers.scores.Floats(kBlock * kBlock);
    gemm_.run(rows, cols, d, query, keys, scores, kBlock, false);
    if (NeedsMask(i, j) || cols < kBlock) {
      const int64_t ahead = Times(i).begin - Times(j).begin;
      for (int64_t r = 0; r < rows; ++r) {
        KeepColumns(scores + r * kBlock, ahead + r - shape_.window, std::min(cols, ahead + r + 1));
      }
    }
    SoftmaxBlock(shape_.scale * kLog2E, rows, Padded(cols), scores, row_max, row_sum, sums, d);
    void* probs = buffers.probs.Reserve(ASlot(kBlock, kBlock));
    gemm_.pack_a({scores, DType::kF32, rows, cols, kBlock, 1}, probs);
    gemm_.run(rows, d, cols, probs, values, sums, d, true);
  }

  void Finish(int64_t batch, int64_t head, Range times, const float* row_max, float* row_sum,
              const float* sums) {
    float* lse = log_sum_exp_ + (batch * shape_.heads + head) * shape_.time + times.begin;
    for (int64_t r = 0; r < times.size(); ++r) {
      lse[r] = row_max[r] * kLn2 + std::log(row_sum[r]);
      row_sum[r] = 1 / row_sum[r];
    }
    StoreScaled(sums, shape_.head_dim, row_sum, 1,
                MutableRows(o_, shape_.heads, batch, head, times));
  }

  const void *q_, *k_, *v_;
  void* o_;
  float* log_sum_exp_;
  int64_t parts_;
};

// Scores are held transposed, [keys, queries], so that every operand made on the way is packed as a
// plain copy of rows. dQ is summed as its transpose for the same reason.
class Backward : public Blocks {
 public:
  Backward(const AttentionShape& shape, DType dtype, const void* q, const void* k, const void* v,
           const void* o, const float* log_sum_exp, const void* d_o, void* d_q, void* d_k,
           void* d_v)
      : Blocks(shape, dtype),
        q_(q),
        k_(k),
        v_(v),
        o_(o),
        d_o_(d_o),
        log_sum_exp_(log_sum_exp),
        d_q_(d_q),
        d_k_(d_k),
        d_v_(d_v) {}

  void Run() {
    ParallelFor(shape_.batch * shape_.kv_heads, [this](int64_t task) {
      RunKvHead(task / shape_.kv_heads, task % shape_.kv_heads);
    });
  }

 private:
  void RunKvHead(int64_t batch, int64_t kv_head) {
    const int64_t d = shape_.head_dim;
    Buffers& buffers = ThreadBuffers();
    PackKeys(batch, kv_head);
    std::fill_n(buffers.d_keys.Floats(Count() * kBlock * d), shape_.time * d, 0.0f);
    std::fill_n(buffers.d_values.Floats(Count() * kBlock * d), shape_.time * d, 0.0f);
    const int64_t group = shape_.heads / shape_.kv_heads;
    for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
      for (int64_t i = 0; i < Count(); ++i) RunQueries(batch, head, i);
    }
    const Range all = {0, shape_.time};
    StoreScaled(buffers.d_keys.floats(), d, nullptr, shape_.scale,
                MutableRows(d_k_, shape_.kv_heads, batch, kv_head, all));
    StoreScaled(buffers.d_values.floats(), d, nullptr, 1,
                MutableRows(d_v_, shape_.kv_heads, batch, kv_head, all));
  }

  void PackKeys(int64_t batch, int64_t kv_head) {
    const int64_t d = shape_.head_dim, slot = ASlot(kBlock, d), slot_t = ASlot(d, kBlock);
    Buffers& buffers = ThreadBuffers();
    char* keys = static_cast<char*>(buffers.keys.Reserve(Count() * slot));
    char* values = static_cast<char*>(buffers.values.Reserve(Count() * slot));
    char* keys_t = static_cast<char*>(buffers.keys_t.Reserve(Count() * slot_t));
    for (int64_t j = 0; j < Count(); ++j) {
      const ConstMatrix key_rows = Rows(k_, shape_.kv_heads, batch, kv_head, Times(j));
      gemm_.pack_a(key_rows, keys + j * slot);
      gemm_.pack_a(key_rows.Transposed(), keys_t + j * slot_t);
      gemm_.pack_a(Rows(v_, shape_.kv_heads, batch, kv_head, Times(j)), values + j * slot);
    }
  }

  void PackQueries(int64_t batch, int64_t head, Range times) {
    const int64_t d = shape_.head_dim, slot = BSlot(kBlock, d), slot_t = BSlot(d, kBlock);
    Buffers& buffers = ThreadBuffers();
    const ConstMatrix query = Rows(q_, shape_.heads, batch, head, times);
    const ConstMatrix d_out = Rows(d_o_, shape_.heads, batch, head, times);
    gemm_.pack_b(query, buffers.query.Reserve(slot));
    gemm_.pack_b(query.Transposed(), buffers.query_t.Reserve(slot_t));
    gemm_.pack_b(d_out, buffers.d_out.Reserve(slot));
    gemm_.pack_b(d_out.Transposed(), buffers.d_out_t.Reserve(slot_t));
    float* lse_log2 = buffers.rows.Floats(2 * kBlock);
    float* delta = lse_log2 + kBlock;
    const float* lse = log_sum_exp_ + (batch * shape_.heads + head) * shape_.time + times.begin;
    for (int64_t r = 0; r < kBlock; ++r) lse_log2[r] = r < times.size() ? lse[r] * kLog2E : 0;
    std::fill_n(delta, kBlock, 0.0f);
    RowDots(Rows(o_, shape_.heads, batch, head, times), d_out, delta);
  }

  void RunQueries(int64_t batch, int64_t head, int64_t i) {
    const int64_t d = shape_.head_dim;
    const Range times = Times(i);
    PackQueries(batch, head, times);
    float* d_query_t = ThreadBuffers().sums.Floats(2 * kBlock * d);  // [head_dim, queries]
    for (int64_t j = FirstKeys(i); j <= i; ++j) MeetKeys(i, j, d_query_t);
    float* d_query = d_query_t + kBlock * d;
    for (int64_t r = 0; r < times.size(); ++r) {
      for (int64_t c = 0; c < d; ++c) d_query[r * d + c] = d_query_t[c * kBlock + r];
    }
    StoreScaled(d_query, d, nullptr, shape_.scale,
                MutableRows(d_q_, shape_.heads, batch, head, times));
  }

  void MeetKeys(int64_t i, int64_t j, float* d_query_t) {
    const int64_t d = shape_.head_dim, rows = Times(j).size(), cols = Times(i).size();
    const int64_t slot = ASlot(kBlock, d), slot_t = ASlot(d, kBlock);
    Buffers& buffers = ThreadBuffers();
    float* scores = buffers.scores.Floats(kBlock * kBlock);
    float* d_scores = buffers.d_scores.Floats(kBlock * kBlock);
    const float* lse_log2 = buffers.rows.floats();
    const auto key = [&](Scratch& s, int64_t bytes) {
      return static_cast<const char*>(s.data()) + j * bytes;
    };
    gemm_.run(rows, cols, d, key(buffers.keys, slot), buffers.query_t.data(), scores, kBlock,
              false);
    gemm_.run(rows, cols, d, key(buffers.values, slot), buffers.d_out_t.data(), d_scores, kBlock,
              false);
    if (NeedsMask(i, j)) {
      const int64_t ahead = Times(j).begin - Times(i).begin;
      for (int64_t r = 0; r < rows; ++r) {
        KeepColumns(scores + r * kBlock, ahead + r, std::min(cols, ahead + r + shape_.window + 1));
      }
    }
    SoftmaxGradBlock(shape_.scale * kLog2E, rows, Padded(cols), lse_log2, lse_log2 + kBlock, scores,
                     d_scores);
    AddGradients(i, j, scores, d_scores, key(buffers.keys_t, slot_t), d_query_t);
  }

  void AddGradients(int64_t i, int64_t j, const float* probs, const float* d_scores,
                    const void* keys_t, float* d_query_t) {
    const int64_t d = shape_.head_dim, rows = Times(j).size(), cols = Times(i).size();
    Buffers& buffers = ThreadBuffers();
    void* packed_a = buffers.probs.Reserve(ASlot(kBlock, kBlock));
    void* packed_b = buffers.grads.Reserve(BSlot(kBlock, kBlock));
    const ConstMatrix d_scores_view = {d_scores, DType::kF32, rows, cols, kBlock, 1};
    gemm_.pack_a({probs, DType::kF32, rows, cols, kBlock, 1}, packed_a);
    gemm_.run(rows, d, cols, packed_a, buffers.d_out.data(),
              buffers.d_values.floats() + j * kBlock * d, d, true);
    gemm_.pack_a(d_scores_view, packed_a);
    gemm_.run(rows, d, cols, packed_a, buffers.query.data(),
              buffers.d_keys.floats() + j * kBlock * d, d, true);
    gemm_.pack_b(d_scores_view, packed_b);
    gemm_.run(d, cols, rows, keys_t, packed_b, d_query_t, kBlock, j > FirstKeys(i));
  }

  const void *q_, *k_, *v_, *o_, *d_o_;
  const float* log_sum_exp_;
  void *d_q_, *d_k_, *d_v_;
};

}  // namespace

void AttentionForward(const AttentionShape& shape, DType dtype, const void* q, const void* k,
                      const void* v, void* o, float* log_sum_exp) {
  Forward(shape, dtype, q, k, v, o, log_sum_exp).Run();
}

void AttentionBackward(const AttentionShape& shape, DType dtype, const void* q, const void* k,
                       const void* v, const void* o, const float* log_sum_exp, const void* d_o,
                       void* d_q, void* d_k, void* d_v) {
  Backward(shape, dtype, q, k, v, o, log_sum_exp, d_o, d_q, d_k, d_v).Run();
}

}  // namespace wt::tensor
