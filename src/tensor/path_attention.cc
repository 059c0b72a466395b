// Attention over paths. Blocks of keys are cut at the same positions as in attention.cc and meet a
// query in the same order, and keys outside the mask add exact zeros; so a row has the same bits
// whatever it shares its batch with.
//
// Segments in a row whose paths begin alike form a group: the blocks of keys that all of them share
// are packed once a group, the others once a segment.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/parallel.h"
#include "tensor/attention_rows.h"
#include "tensor/block_gemm.h"
#include "tensor/paths.h"
#include "tensor/scratch.h"

namespace wt::tensor {
namespace {

constexpr int64_t kBlock = kAttentionBlock;
constexpr float kLog2E = 1.44269504f;
constexpr float kMasked = -INFINITY;
constexpr float kNoMaximum = -1e30f;  // as in attention.cc
constexpr int64_t kTasksPerThread = 4;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t Padded(int64_t n) { return CeilDiv(n, 16) * 16; }

// One thread's working memory.
struct Buffers {
  Scratch shared_keys, shared_values, keys, values, query, probs;  // packed
  Scratch gathered, scores, rows, sums;
};
Buffers& ThreadBuffers() {
  thread_local Buffers buffers;
  return buffers;
}

struct Group {
  size_t begin, end;      // segments
  int64_t shared_blocks;  // whole blocks of keys, from position 0, that are the same for all
};

// Segments of at most `rows` rows, so that there is work for every thread.
std::vector<PathSegment> CutSegments(std::span<const PathSegment> segments, int64_t rows) {
  std::vector<PathSegment> cut;
  for (PathSegment s : segments) {
    while (s.rows > rows) {
      PathSegment first = s;
      first.rows = static_cast<int32_t>(rows);
      cut.push_back(first);
      s.first_row += first.rows;
      s.first_position += first.rows;
      s.rows -= first.rows;
    }
    cut.push_back(s);
  }
  return cut;
}

int64_t SharedBlocks(const int32_t* a, int64_t a_size, const int32_t* b, int64_t b_size) {
  const int64_t most = std::min(a_size, b_size) / kBlock;
  int64_t blocks = 0;
  while (blocks < most && std::memcmp(a + blocks * kBlock, b + blocks * kBlock,
                                      static_cast<size_t>(kBlock) * sizeof(int32_t)) == 0) {
    ++blocks;
  }
  return blocks;
}

// Blocks that lie wholly before both segments' own rows and are the same for both.
int64_t SharedBlocks(const Paths& paths, const PathSegment& a, const PathSegment& b) {
  return SharedBlocks(paths.PathOf(a), a.first_position, paths.PathOf(b), b.first_position);
}

std::vector<Group> FindGroups(const Paths& paths) {
  std::vector<Group> groups;
  const auto& segments = paths.segments;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (!groups.empty()) {
      Group& last = groups.back();
      const int64_t shared = SharedBlocks(paths, segments[last.begin], segments[i]);
      const bool alone = last.end == last.begin + 1;
      // A group keeps what it shares; its second segment decides how much that is.
      if (shared > 0 && (alone || shared >= last.shared_blocks)) {
        if (alone) last.shared_blocks = shared;
        ++last.end;
        continue;
      }
    }
    groups.push_back({i, i + 1, 0});
  }
  return groups;
}

class PathForward {
 public:
  PathForward(const AttentionShape& shape, DType dtype, const Paths& paths, const void* q,
              const void* keys, const void* values, void* o)
      : shape_(shape),
        dtype_(dtype),
        gemm_(ActiveBlockGemm(dtype == DType::kF32)),
        slots_(paths.slots),
        q_(q),
        keys_(keys),
        values_(values),
        o_(o) {
    int64_t rows = 0;
    for (const PathSegment& s : paths.segments) rows += s.rows;
    const int64_t wanted = CeilDiv(kTasksPerThread * Threads(), shape.kv_heads);
    segments_ = CutSegments(paths.segments, std::max(2 * kBlock, CeilDiv(rows, wanted)));
    groups_ = FindGroups({segments_, slots_});
  }

  void Run() {
    const auto groups = static_cast<int64_t>(groups_.size());
    ParallelFor(groups * shape_.kv_heads, [this, groups](int64_t task) {
      // The last rows of a sequence see the most keys: they start first.
      RunGroup(groups_[static_cast<size_t>(groups - 1 - task / shape_.kv_heads)],
               task % shape_.kv_heads);
    });
  }

 private:
  // Packed blocks [first, first + count) of one head's keys and values.
  struct Packed {
    int64_t first;
    const char *keys, *values;
  };

  int64_t KeySlot() const { return Padded(gemm_.packed_b_bytes(shape_.head_dim, kBlock)) * 4; }
  int64_t ValueSlot() const { return Padded(gemm_.packed_b_bytes(kBlock, shape_.head_dim)) * 4; }
  // The first block of keys that a query at `position` sees.
  int64_t FirstBlock(int64_t position) const {
    return std::max<int64_t>(0, position - shape_.window) / kBlock;
  }

  void RunGroup(const Group& group, int64_t kv_head) {
    Buffers& buffers = ThreadBuffers();
    Packed shared{0, nullptr, nullptr};
    if (group.shared_blocks > 0) {
      int64_t first = group.shared_blocks;
      for (size_t i = group.begin; i < group.end; ++i) {
        first = std::min(first, FirstBlock(segments_[i].first_position));
      }
      shared = Pack(segments_[group.begin], kv_head, first, group.shared_blocks,
                    &buffers.shared_keys, &buffers.shared_values);
    }
    for (size_t i = group.begin; i < group.end; ++i) {
      RunSegment(segments_[i], kv_head, group.shared_blocks, shared);
    }
  }

  // Blocks [first, end) of the segment's path; the last one may be short.
  Packed Pack(const PathSegment& segment, int64_t kv_head, int64_t first, int64_t end,
              Scratch* key_memory, Scratch* value_memory) {
    const int64_t size = segment.first_position + segment.rows;
    const int64_t count = std::max<int64_t>(0, end - first);
    char* keys = static_cast<char*>(key_memory->Reserve(count * KeySlot()));
    char* values = static_cast<char*>(value_memory->Reserve(count * ValueSlot()));
    for (int64_t block = first; block < end; ++block) {
      const int32_t* path = slots_ + segment.path_begin + block * kBlock;
      const int64_t n = std::min(kBlock, size - block * kBlock), at = block - first;
      gemm_.pack_b(Gather(keys_, path, n, kv_head).Transposed(), keys + at * KeySlot());
      gemm_.pack_b(Gather(values_, path, n, kv_head), values + at * ValueSlot());
    }
    return {first, keys, values};
  }

  // The rows of one head that a path names, [n, head_dim]; in place where they follow each other.
  ConstMatrix Gather(const void* pool, const int32_t* path, int64_t n, int64_t kv_head) {
    const int64_t d = shape_.head_dim, row = shape_.kv_heads * d, size = DTypeBytes(dtype_);
    const auto at = [&](int64_t slot) {
      return static_cast<const char*>(pool) + (slot * row + kv_head * d) * size;
    };
    bool in_order = true;
    for (int64_t i = 1; i < n; ++i) in_order &= path[i] == path[0] + i;
    if (in_order) return {at(path[0]), dtype_, n, d, row, 1};
    char* rows = static_cast<char*>(ThreadBuffers().gathered.Reserve(kBlock * d * size));
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(rows + i * d * size, at(path[i]), static_cast<size_t>(d * size));
    }
    return RowMajor(rows, dtype_, n, d);
  }

  void RunSegment(const PathSegment& segment, int64_t kv_head, int64_t shared_blocks,
                  const Packed& shared) {
    Buffers& buffers = ThreadBuffers();
    const int64_t size = segment.first_position + segment.rows;
    const int64_t first = std::max(shared_blocks, FirstBlock(segment.first_position));
    const Packed own =
        Pack(segment, kv_head, first, CeilDiv(size, kBlock), &buffers.keys, &buffers.values);
    const int64_t per_kv = shape_.heads / shape_.kv_heads;
    for (int64_t row = 0; row < segment.rows; row += kBlock) {
      const int64_t rows = std::min<int64_t>(kBlock, segment.rows - row);
      for (int64_t h = kv_head * per_kv; h < (kv_head + 1) * per_kv; ++h) {
        RunQueries(segment, row, rows, h, shared_blocks, shared, own);
      }
    }
  }

  void RunQueries(const PathSegment& segment, int64_t row, int64_t rows, int64_t head,
                  int64_t shared_blocks, const Packed& shared, const Packed& own) {
    const int64_t d = shape_.head_dim, at = segment.first_row + row;
    const int64_t position = segment.first_position + row;
    Buffers& buffers = ThreadBuffers();
    void* query = buffers.query.Reserve(Padded(gemm_.packed_a_bytes(kBlock, d)) * 4);
    gemm_.pack_a(QueryRows(q_, at, rows, head), query);
    float* row_max = buffers.rows.Floats(2 * kBlock);
    float* row_sum = row_max + kBlock;
    float* sums = buffers.sums.Floats(kBlock * d);
    std::fill_n(row_max, kBlock, kNoMaximum);
    std::fill_n(row_sum, kBlock, 0.0f);
    std::fill_n(sums, kBlock * d, 0.0f);
    for (int64_t b = FirstBlock(position); b * kBlock < position + rows; ++b) {
      const Packed& from = b < shared_blocks ? shared : own;
      const int64_t packed = segment.first_position + segment.rows - b * kBlock;
      MeetKeys(position, rows, b, b < shared_blocks ? kBlock : std::min(kBlock, packed), query,
               from.keys + (b - from.first) * KeySlot(),
               from.values + (b - from.first) * ValueSlot(), row_max, row_sum, sums);
    }
    for (int64_t r = 0; r < rows; ++r) row_sum[r] = 1 / row_sum[r];
    const ConstMatrix out = QueryRows(o_, at, rows, head);
    StoreScaled(sums, d, row_sum, 1,
                {const_cast<void*>(out.data), dtype_, rows, d, out.row_stride});
  }

  ConstMatrix QueryRows(const void* tensor, int64_t row, int64_t rows, int64_t head) const {
    const int64_t d = shape_.head_dim, at = (row * shape_.heads + head) * d;
    return {static_cast<const char*>(tensor) + at * DTypeBytes(dtype_),
            dtype_,
            rows,
            d,
            shape_.heads * d,
            1};
  }

  // Queries at `position` and after against block b, which was packed with `cols` keys.
  void MeetKeys(int64_t position, int64_t rows, int64_t b, int64_t cols, const void* query,
                const char* keys, const char* values, float* row_max, float* row_sum, float* sums) {
    const int64_t d = shape_.head_dim, ahead = position - b * kBlock;
    Buffers& buffers = ThreadBuffers();
    float* scores = buffers.scores.Floats(kBlock * kBlock);
    gemm_.run(rows, cols, d, query, keys, scores, kBlock, false);
    for (int64_t r = 0; r < rows; ++r) {
      float* row = scores + r * kBlock;
      const int64_t first = ahead + r - shape_.window, end = std::min(cols, ahead + r + 1);
      if (first > 0) std::fill(row, row + std::min(first, kBlock), kMasked);
      std::fill(row + std::max<int64_t>(end, 0), row + kBlock, kMasked);
    }
    SoftmaxBlock(shape_.scale * kLog2E, rows, Padded(cols), scores, row_max, row_sum, sums, d);
    void* probs = buffers.probs.Reserve(Padded(gemm_.packed_a_bytes(kBlock, kBlock)) * 4);
    gemm_.pack_a({scores, DType::kF32, rows, cols, kBlock, 1}, probs);
    gemm_.run(rows, d, cols, probs, values, sums, d, true);
  }

  AttentionShape shape_;
  DType dtype_;
  const BlockGemm& gemm_;
  const int32_t* slots_;
  const void *q_, *keys_, *values_;
  void* o_;
  std::vector<PathSegment> segments_;
  std::vector<Group> groups_;
};

}  // namespace

void PathAttention(const AttentionShape& shape, DType dtype, const Paths& paths, const void* q,
                   const void* keys, const void* values, void* o) {
  WT_CHECK(dtype == DType::kF32 || dtype == DType::kBF16, "[attention] given {}", DTypeName(dtype));
  WT_CHECK(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0,
           "[attention] {} heads are not a multiple of {} kv heads", shape.heads, shape.kv_heads);
  PathForward(shape, dtype, paths, q, keys, values, o).Run();
}

}  // namespace wt::tensor
