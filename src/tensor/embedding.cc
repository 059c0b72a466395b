// Token embedding: gathers rows forward; backward adds rows into the table without locks, by giving
// each task the ids of one residue class.
#include "tensor/embedding.h"

#include "tensor/check.h"
#include "tensor/row_ops.h"
#include "tensor/split.h"

namespace wt::tensor {
namespace {

void CheckId(int32_t id, int64_t vocab) {
  WT_CHECK(id >= 0 && id < vocab, "token id {}, expected 0 .. {}", id, vocab - 1);
}

}  // namespace

void EmbeddingForward(int64_t tokens, int64_t width, int64_t vocab, const int32_t* ids,
                      ConstArray table, Array y) {
  CheckFloat({table, y});
  SplitRows(tokens, width, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      CheckId(ids[i], vocab);
      RowCopy(width, Offset(table, ids[i] * width), Offset(y, i * width));
    }
  });
}

void EmbeddingBackward(int64_t tokens, int64_t width, int64_t vocab, const int32_t* ids,
                       ConstArray dy, float* d_table) {
  CheckFloat({dy});
  constexpr int64_t kClasses = 16;
  const auto add_class = [&](int64_t c) {
    for (int64_t i = 0; i < tokens; ++i) {
      if (ids[i] % kClasses != c) continue;
      CheckId(ids[i], vocab);
      RowAccumulate(width, Offset(dy, i * width), d_table + ids[i] * width);
    }
  };
  ParallelFor(kClasses, std::cref(add_class));
}

}  // namespace wt::tensor
