// MatMul: which part of the product is packed when, and by which thread.
//
// The product is cut into supers (a range of n and a range of k whose packed B stays in the last
// cache), those into tiles of C (mt x nt) and blocks of k (kc). B is packed once per super, by all
// threads. Then a task takes mt rows of A: it packs one block of k, small enough for its second
// cache, multiplies it with all columns of the super, and goes on to the next block. When A has too
// few rows for that to keep all threads busy, A is packed once per super by all threads and a task
// is one tile. No thread shares the sum of an element, so bits do not depend on threads: the sum
// runs over the blocks of k in order.
#include "tensor/matmul.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "tensor/block_gemm.h"
#include "tensor/matmul_store.h"
#include "tensor/scratch.h"

namespace wt::tensor {
namespace {

// Packed B of one super. Sums in C itself can be taken up again, so k may be cut finely there.
constexpr int64_t kSuperBytes = int64_t{24} << 20;
constexpr int64_t kDirectSuperBytes = int64_t{8} << 20;
constexpr int64_t kSuperCols = 2048;  // bounds the sums that a task keeps aside
constexpr int64_t kTileCols = 256;
constexpr int64_t kTasksPerThread = 4;
// Below this many multiply-adds a parallel region costs more than it saves.
constexpr int64_t kSerialWork = 1 << 17;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t RoundUp(int64_t n, int64_t unit) { return CeilDiv(n, unit) * unit; }

// The block of about `target` that cuts n into equal parts, in whole units.
int64_t EvenBlock(int64_t n, int64_t target, int64_t unit) {
  return RoundUp(CeilDiv(n, CeilDiv(n, std::max(target, unit))), unit);
}

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};
Range BlockRange(int64_t i, int64_t block, int64_t n) {
  return {i * block, std::min(n, (i + 1) * block)};
}

struct Buffers {
  Scratch a, b, sums;    // of the calling thread, shared by all tasks
  Scratch task_a, tile;  // of each thread
};
Buffers& ThreadBuffers() {
  thread_local Buffers buffers;
  return buffers;
}

class Product {
 public:
  // `transposed_c`: c is written as the transpose of a b.
  Product(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c, bool transposed_c,
          bool accumulate);
  void Run();

 private:
  void PlanTiles();
  int64_t RowsPerTask(int64_t tasks_per_row_block) const;
  void RunSuper(Range cols, Range depth);
  void For(int64_t n, const std::function<void(int64_t)>& body) const;
  void PackB(int64_t task);
  void PackA(int64_t i, int64_t t, char* packed);
  void RunRows(int64_t i);
  void RunTile(int64_t i, int64_t j);

  // Where the fp32 sums of a task are: in C, or aside until they are complete.
  struct Sums {
    float* data;
    int64_t ld;
  };
  Sums SumsOf(int64_t i, Range cols) const;
  void Multiply(int64_t i, int64_t j, int64_t t, const char* packed_a, const Sums& sums,
                Range sums_cols);
  void Finish(int64_t block, Range cols, const Sums& sums);

  Range KBlock(int64_t t) const {
    const Range r = BlockRange(t, kc_, depth_.size());
    return {depth_.begin + r.begin, depth_.begin + r.end};
  }
  Range Cols(int64_t j) const {
    const Range r = BlockRange(j, nt_, cols_.size());
    return {cols_.begin + r.begin, cols_.begin + r.end};
  }

  const BlockGemm& gemm_;
  const ConstMatrix a_, b_;
  const Matrix c_;
  const bool transposed_c_, accumulate_, direct_;
  const int64_t m_, n_, k_;
  int64_t kc_, mt_, nt_, super_k_, super_n_;
  bool shared_a_, serial_;
  int64_t a_slot_, b_slot_;

  // The super being worked on.
  Range cols_{}, depth_{};
  int64_t k_blocks_ = 0, col_blocks_ = 0, row_blocks_ = 0;
  char* packed_a_ = nullptr;
  char* packed_b_ = nullptr;
  float* sums_ = nullptr;  // [m, cols of the super], when partial sums must outlive a super
};

Product::Product(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c, bool transposed_c,
                 bool accumulate)
    : gemm_(ActiveBlockGemm(a.dtype == DType::kF32 && b.dtype == DType::kF32)),
      a_(a),
      b_(b),
      c_(c),
      transposed_c_(transposed_c),
      accumulate_(accumulate),
      direct_(c.dtype == DType::kF32 && !transposed_c),
      m_(a.rows),
      n_(b.cols),
      k_(a.cols) {
  PlanTiles();
}

void Product::PlanTiles() {
  kc_ = EvenBlock(k_, gemm_.kc, std::max<int64_t>(gemm_.kr, 8));
  serial_ = m_ * n_ * k_ <= kSerialWork;
  nt_ = EvenBlock(n_, kTileCols, gemm_.nr);
  mt_ = RowsPerTask(1);
  shared_a_ = nt_ < n_ && mt_ < gemm_.mc / 4 && mt_ < m_;
  if (shared_a_) mt_ = std::max(2 * gemm_.mr, RowsPerTask(CeilDiv(n_, nt_)));

  const int64_t k_blocks = CeilDiv(k_, kc_);
  const int64_t limit = (direct_ ? kDirectSuperBytes : kSuperBytes) / 4;
  super_n_ = std::min(n_, std::max(nt_, kSuperCols / nt_ * nt_));
  super_k_ = kc_ * std::clamp<int64_t>(limit / (super_n_ * kc_), 1, k_blocks);
  a_slot_ = RoundUp(gemm_.packed_a_bytes(mt_, kc_), 64);
  b_slot_ = RoundUp(gemm_.packed_b_bytes(kc_, nt_), 64);
}

// About mc rows; where that gives few tasks, so many that every thread gets the same number.
int64_t Product::RowsPerTask(int64_t tasks_per_row_block) const {
  const int64_t threads = serial_ ? 1 : Threads();
  int64_t blocks = CeilDiv(m_, gemm_.mc);
  if (blocks * tasks_per_row_block < kTasksPerThread * threads) {
    blocks = CeilDiv(RoundUp(blocks * tasks_per_row_block, threads), tasks_per_row_block);
  }
  return RoundUp(CeilDiv(m_, blocks), gemm_.mr);
}

void Product::For(int64_t n, const std::function<void(int64_t)>& body) const {
  if (!serial_) return ParallelFor(n, body);
  for (int64_t i = 0; i < n; ++i) body(i);
}

void Product::Run() {
  for (int64_t j = 0; j < n_; j += super_n_) {
    const Range cols = {j, std::min(n_, j + super_n_)};
    if (!direct_ && super_k_ < k_) sums_ = ThreadBuffers().sums.Floats(m_ * cols.size());
    for (int64_t k = 0; k < k_; k += super_k_) RunSuper(cols, {k, std::min(k_, k + super_k_)});
  }
}

void Product::RunSuper(Range cols, Range depth) {
  cols_ = cols;
  depth_ = depth;
  k_blocks_ = CeilDiv(depth.size(), kc_);
  col_blocks_ = CeilDiv(cols.size(), nt_);
  row_blocks_ = CeilDiv(m_, mt_);
  Buffers& buffers = ThreadBuffers();
  packed_b_ = static_cast<char*>(buffers.b.Reserve(k_blocks_ * col_blocks_ * b_slot_));
  For(k_blocks_ * col_blocks_, [this](int64_t task) { PackB(task); });
  if (!shared_a_) return For(row_blocks_, [this](int64_t i) { RunRows(i); });
  packed_a_ = static_cast<char*>(buffers.a.Reserve(row_blocks_ * k_blocks_ * a_slot_));
  For(row_blocks_ * k_blocks_, [this](int64_t task) {
    PackA(task / k_blocks_, task % k_blocks_, packed_a_ + task * a_slot_);
  });
  For(row_blocks_ * col_blocks_,
      [this](int64_t task) { RunTile(task / col_blocks_, task % col_blocks_); });
}

void Product::PackB(int64_t task) {
  const Range depth = KBlock(task / col_blocks_), cols = Cols(task % col_blocks_);
  gemm_.pack_b(b_.Block(depth.begin, depth.size(), cols.begin, cols.size()),
               packed_b_ + task * b_slot_);
}

void Product::PackA(int64_t i, int64_t t, char* packed) {
  const Range rows = BlockRange(i, mt_, m_), depth = KBlock(t);
  gemm_.pack_a(a_.Block(rows.begin, rows.size(), depth.begin, depth.size()), packed);
}

void Product::RunRows(int64_t i) {
  Buffers& buffers = ThreadBuffers();
  char* packed = static_cast<char*>(buffers.task_a.Reserve(a_slot_));
  const Sums sums = SumsOf(i, cols_);
  for (int64_t t = 0; t < k_blocks_; ++t) {
    PackA(i, t, packed);
    for (int64_t j = 0; j < col_blocks_; ++j) Multiply(i, j, t, packed, sums, cols_);
  }
  Finish(i, cols_, sums);
}

void Product::RunTile(int64_t i, int64_t j) {
  const Range cols = Cols(j);
  const Sums sums = SumsOf(i, cols);
  for (int64_t t = 0; t < k_blocks_; ++t) {
    Multiply(i, j, t, packed_a_ + (i * k_blocks_ + t) * a_slot_, sums, cols);
  }
  Finish(i, cols, sums);
}

Product::Sums Product::SumsOf(int64_t i, Range cols) const {
  const int64_t row = BlockRange(i, mt_, m_).begin;
  if (direct_) {
    return {static_cast<float*>(c_.data) + row * c_.row_stride + cols.begin, c_.row_stride};
  }
  if (sums_ != nullptr)
    return {sums_ + row * cols_.size() + cols.begin - cols_.begin, cols_.size()};
  return {ThreadBuffers().tile.Floats(mt_ * RoundUp(cols.size(), 16)), RoundUp(cols.size(), 16)};
}

void Product::Multiply(int64_t i, int64_t j, int64_t t, const char* packed_a, const Sums& sums,
                       Range sums_cols) {
  const Range rows = BlockRange(i, mt_, m_), cols = Cols(j);
  const bool add = t > 0 || depth_.begin > 0 || (direct_ && accumulate_);
  gemm_.run(rows.size(), cols.size(), KBlock(t).size(), packed_a,
            packed_b_ + (t * col_blocks_ + j) * b_slot_, sums.data + cols.begin - sums_cols.begin,
            sums.ld, add);
}

void Product::Finish(int64_t block, Range cols, const Sums& sums) {
  if (direct_ || depth_.end < k_) return;
  const Range rows = BlockRange(block, mt_, m_);
  const int64_t i = transposed_c_ ? cols.begin : rows.begin;
  const int64_t j = transposed_c_ ? rows.begin : cols.begin;
  char* to = static_cast<char*>(c_.data) + (i * c_.row_stride + j) * DTypeBytes(c_.dtype);
  const Matrix part = {to, c_.dtype, transposed_c_ ? cols.size() : rows.size(),
                       transposed_c_ ? rows.size() : cols.size(), c_.row_stride};
  StoreSums(sums.data, sums.ld, transposed_c_, part, accumulate_);
}

void CheckOperands(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c) {
  WT_CHECK(a.cols == b.rows && c.rows == a.rows && c.cols == b.cols,
           "[matmul] given [{}, {}] x [{}, {}] into [{}, {}]", a.rows, a.cols, b.rows, b.cols,
           c.rows, c.cols);
  for (DType dtype : {a.dtype, b.dtype, c.dtype}) {
    WT_CHECK(dtype == DType::kF32 || dtype == DType::kBF16,
             "[matmul] given {}, expected f32 or bf16", DTypeName(dtype));
  }
}

void Zero(const Matrix& c) {
  const int64_t bytes = DTypeBytes(c.dtype);
  for (int64_t i = 0; i < c.rows; ++i) {
    std::fill_n(static_cast<char*>(c.data) + i * c.row_stride * bytes, c.cols * bytes, '\0');
  }
}

// The elements row by row, as double.
std::vector<double> RowByRow(const ConstMatrix& m) {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(m.rows * m.cols));
  for (int64_t i = 0; i < m.rows; ++i) {
    for (int64_t j = 0; j < m.cols; ++j) {
      const int64_t at = i * m.row_stride + j * m.col_stride;
      values.push_back(m.dtype == DType::kBF16
                           ? static_cast<float>(static_cast<const BF16*>(m.data)[at])
                           : static_cast<const float*>(m.data)[at]);
    }
  }
  return values;
}

}  // namespace

void MatMul(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c, bool accumulate) {
  CheckOperands(a, b, c);
  if (c.rows == 0 || c.cols == 0) return;
  if (a.cols == 0) {
    if (!accumulate) Zero(c);
    return;
  }
  // A few rows times a weight (decoding): as the weight times a few columns, the weight is the
  // operand whose packing is a plain copy and the few rows fill the width of a tile.
  const int64_t few = ActiveBlockGemm(a.dtype == DType::kF32 && b.dtype == DType::kF32).nr;
  if (a.rows <= few && b.cols > few) {
    Product(b.Transposed(), a.Transposed(), c, true, accumulate).Run();
  } else {
    Product(a, b, c, false, accumulate).Run();
  }
}

void MatMulReference(const ConstMatrix& a, const ConstMatrix& b, const Matrix& c, bool accumulate) {
  CheckOperands(a, b, c);
  const auto left = RowByRow(a), right = RowByRow(b.Transposed()), old = RowByRow(c);
  const auto row = [&](const std::vector<double>& m, int64_t i) { return m.data() + i * a.cols; };
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int64_t j = 0; j < c.cols; ++j) {
      const double before = accumulate ? old[static_cast<size_t>(i * c.cols + j)] : 0.0;
      const double sum =
          std::inner_product(row(left, i), row(left, i) + a.cols, row(right, j), before);
      const int64_t at = i * c.row_stride + j;
      if (c.dtype == DType::kBF16) {
        static_cast<BF16*>(c.data)[at] = BF16(static_cast<float>(sum));
      } else {
        static_cast<float*>(c.data)[at] = static_cast<float>(sum);
      }
    }
  }
}

}  // namespace wt::tensor
