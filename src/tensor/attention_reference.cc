// The plain twins of attention.cc: one row of probabilities at a time, in double.
#include <cmath>
#include <vector>

#include "tensor/attention.h"

namespace wt::tensor {
namespace {

// A [batch, time, heads, head_dim] tensor, read and written as double.
class Tensor {
 public:
  Tensor(const void* data, DType dtype, const AttentionShape& shape, int64_t heads)
      : data_(const_cast<void*>(data)),
        bf16_(dtype == DType::kBF16),
        time_(shape.time),
        heads_(heads),
        dim_(shape.head_dim) {}

  double Get(int64_t b, int64_t t, int64_t h, int64_t c) const {
    const int64_t at = ((b * time_ + t) * heads_ + h) * dim_ + c;
    return bf16_ ? static_cast<float>(static_cast<BF16*>(data_)[at])
                 : static_cast<float*>(data_)[at];
  }
  void Set(int64_t b, int64_t t, int64_t h, int64_t c, double value) const {
    const int64_t at = ((b * time_ + t) * heads_ + h) * dim_ + c;
    if (bf16_) {
      static_cast<BF16*>(data_)[at] = BF16(static_cast<float>(value));
    } else {
      static_cast<float*>(data_)[at] = static_cast<float>(value);
    }
  }

 private:
  void* data_;
  bool bf16_;
  int64_t time_, heads_, dim_;
};

// The probabilities of query t over keys first .. t, and the log of their denominator.
struct Row {
  int64_t first;
  std::vector<double> probs;
  double log_sum_exp;
};

Row SoftmaxRow(const AttentionShape& s, const Tensor& q, const Tensor& k, int64_t b, int64_t h,
               int64_t t) {
  const int64_t kv = h / (s.heads / s.kv_heads);
  Row row = {t > s.window ? t - s.window : 0, {}, 0};
  double most = -INFINITY, sum = 0;
  for (int64_t u = row.first; u <= t; ++u) {
    double score = 0;
    for (int64_t c = 0; c < s.head_dim; ++c) score += q.Get(b, t, h, c) * k.Get(b, u, kv, c);
    row.probs.push_back(score * s.scale);
    most = std::max(most, row.probs.back());
  }
  for (double& p : row.probs) sum += p = std::exp(p - most);
  for (double& p : row.probs) p /= sum;
  row.log_sum_exp = most + std::log(sum);
  return row;
}

template <class Body>
void ForEachQuery(const AttentionShape& s, const Body& body) {
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t h = 0; h < s.heads; ++h) {
      for (int64_t t = 0; t < s.time; ++t) body(b, h, t);
    }
  }
}

double WeightedValue(const Row& row, const Tensor& v, int64_t b, int64_t kv, int64_t c) {
  double sum = 0;
  for (size_t i = 0; i < row.probs.size(); ++i) {
    sum += row.probs[i] * v.Get(b, row.first + static_cast<int64_t>(i), kv, c);
  }
  return sum;
}

}  // namespace

void AttentionForwardReference(const AttentionShape& shape, DType dtype, const void* q,
                               const void* k, const void* v, void* o, float* log_sum_exp) {
  const Tensor qt(q, dtype, shape, shape.heads), kt(k, dtype, shape, shape.kv_heads),
      vt(v, dtype, shape, shape.kv_heads), ot(o, dtype, shape, shape.heads);
  ForEachQuery(shape, [&](int64_t b, int64_t h, int64_t t) {
    const Row row = SoftmaxRow(shape, qt, kt, b, h, t);
    const int64_t kv = h / (shape.heads / shape.kv_heads);
    for (int64_t c = 0; c < shape.head_dim; ++c) {
      ot.Set(b, t, h, c, WeightedValue(row, vt, b, kv, c));
    }
    log_sum_exp[(b * shape.heads + h) * shape.time + t] = static_cast<float>(row.log_sum_exp);
  });
}

void AttentionBackwardReference(const AttentionShape& shape, DType dtype, const void* q,
                                const void* k, const void* v, const void* d_o, void* d_q, void* d_k,
                                void* d_v) {
  const Tensor qt(q, dtype, shape, shape.heads), kt(k, dtype, shape, shape.kv_heads),
      vt(v, dtype, shape, shape.kv_heads), dot(d_o, dtype, shape, shape.heads);
  const int64_t d = shape.head_dim, kv_row = shape.kv_heads * d;
  std::vector<double> dk(static_cast<size_t>(shape.batch * shape.time * kv_row)), dv = dk;
  const Tensor dqt(d_q, dtype, shape, shape.heads);
  ForEachQuery(shape, [&](int64_t b, int64_t h, int64_t t) {
    const Row row = SoftmaxRow(shape, qt, kt, b, h, t);
    const int64_t kv = h / (shape.heads / shape.kv_heads);
    double delta = 0;
    for (int64_t c = 0; c < d; ++c) delta += WeightedValue(row, vt, b, kv, c) * dot.Get(b, t, h, c);
    std::vector<double> dq(static_cast<size_t>(d));
    for (size_t i = 0; i < row.probs.size(); ++i) {
      const int64_t u = row.first + static_cast<int64_t>(i);
      const size_t at = static_cast<size_t>((b * shape.time + u) * kv_row + kv * d);
      double d_prob = 0;
      for (int64_t c = 0; c < d; ++c) d_prob += dot.Get(b, t, h, c) * vt.Get(b, u, kv, c);
      const double d_score = row.probs[i] * (d_prob - delta) * shape.scale;
      for (int64_t c = 0; c < d; ++c) {
        dq[static_cast<size_t>(c)] += d_score * kt.Get(b, u, kv, c);
        dk[at + static_cast<size_t>(c)] += d_score * qt.Get(b, t, h, c);
        dv[at + static_cast<size_t>(c)] += row.probs[i] * dot.Get(b, t, h, c);
      }
    }
    for (int64_t c = 0; c < d; ++c) dqt.Set(b, t, h, c, dq[static_cast<size_t>(c)]);
  });
  const Tensor dkt(d_k, dtype, shape, shape.kv_heads), dvt(d_v, dtype, shape, shape.kv_heads);
  size_t at = 0;
  for (int64_t b = 0; b < shape.batch; ++b) {
    for (int64_t t = 0; t < shape.time; ++t) {
      for (int64_t h = 0; h < shape.kv_heads; ++h) {
        for (int64_t c = 0; c < d; ++c, ++at) {
          dkt.Set(b, t, h, c, dk[at]);
          dvt.Set(b, t, h, c, dv[at]);
        }
      }
    }
  }
}

}  // namespace wt::tensor
