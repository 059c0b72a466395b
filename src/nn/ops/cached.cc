// Twins of the ops that know of positions or of other tokens, for rows whose past lies in pools:
// x is [1, rows, …], and after an op's own inputs come positions i32 [rows], segments i32
// [segments, 4] (tensor::PathSegment) and paths i32 [slots named]. Pools are [slots, width].
#include <cmath>

#include "nn/ops/ops.h"
#include "tensor/paths.h"
#include "tensor/rope.h"
#include "tensor/row_ops.h"

namespace wt::nn::ops {
namespace {

static_assert(sizeof(tensor::PathSegment) == 4 * sizeof(int32_t));

// `at`: the input that is the segments; the paths follow it.
tensor::Paths PathsOf(const RunContext& c, size_t at) {
  const auto* segments = reinterpret_cast<const tensor::PathSegment*>(c.in_as<int32_t>(at));
  return {{segments, static_cast<size_t>(c.input(at).shape[0])}, c.in_as<int32_t>(at + 1)};
}
// Rows of input i to the pool that is output o.
void Keep(const RunContext& c, const tensor::Paths& paths, size_t i, size_t o) {
  tensor::StoreInSlots(paths, c.cols(i) * DTypeBytes(c.input(i).dtype), c.in(i).data,
                       c.out(o).data);
}

InferResult InferCached(const OpCall& call) {
  return std::vector<ValueSpec>{{call.input(0).shape, call.input(0).dtype}};
}

// inputs: x, positions, segments, paths
void RunRopeCached(const RunContext& c) {
  const Shape& shape = c.input(0).shape;
  tensor::RopeShape rope;
  rope.time = c.rows(0);
  rope.head_dim = c.attrs().Int("head_dim");
  rope.heads = shape.back() / rope.head_dim;
  rope.base = c.attrs().Real("base");
  rope.norm = c.attrs().Int("norm") != 0;
  rope.eps = static_cast<float>(c.attrs().Real("eps"));
  rope.gain = static_cast<float>(c.attrs().Real("gain"));
  rope.positions = c.in_as<int32_t>(1);
  tensor::RopeNormForward(rope, c.in(0), c.out(0));
}
Work WorkRopeCached(const OpCall& call) { return ElementwiseWork(call, 7); }

// inputs: q, k, v, positions, segments, paths; outputs: y, keys, values
void RunAttentionCached(const RunContext& c) {
  const tensor::Paths paths = PathsOf(c, 4);
  Keep(c, paths, 1, 1);
  Keep(c, paths, 2, 2);
  const int64_t head_dim = c.attrs().Int("head_dim");
  const double scale = 1.0 / std::sqrt(static_cast<double>(head_dim));
  const tensor::AttentionShape shape = {1,
                                        c.rows(0),
                                        c.cols(0) / head_dim,
                                        c.cols(1) / head_dim,
                                        head_dim,
                                        c.attrs().Int("window"),
                                        static_cast<float>(scale)};
  tensor::PathAttention(shape, c.input(0).dtype, paths, c.in(0).data, c.out(1).data, c.out(2).data,
                        c.out(0).data);
}
// As if each row saw all of a path of mean length: exact for decoding, where a segment is one row.
Work WorkAttentionCached(const OpCall& call) {
  Work work = ElementwiseWork(call, 0);
  const auto named = static_cast<double>(call.input(5).shape[0]);
  const double per_segment = named / static_cast<double>(call.input(4).shape[0]);
  const double pairs = static_cast<double>(call.rows(0)) * per_segment;
  const auto heads = static_cast<double>(call.cols(0) / call.attrs().Int("head_dim"));
  work.matmul_dtype = call.input(0).dtype;
  work.matmul_flops = 4.0 * pairs * static_cast<double>(call.cols(0));
  work.vector_flops = 4.0 * pairs * heads;
  for (size_t i : {1u, 2u}) {
    work.read_bytes[i] += call.input(5).shape[0] * call.cols(i) * DTypeBytes(call.input(i).dtype);
    work.written_bytes[i] = call.input(i).bytes();
  }
  return work;
}

// inputs: x, w, positions, segments, paths; outputs: y, rows of x
void RunConvCached(const RunContext& c) {
  const tensor::Paths paths = PathsOf(c, 3);
  Keep(c, paths, 0, 1);
  tensor::PathConv({1, c.rows(0), c.cols(0), c.rows(1)}, paths, c.out(1), c.in_as<float>(1),
                   c.out(0));
}
Work WorkConvCached(const OpCall& call) {
  Work work = ElementwiseWork(call, 2.0 * static_cast<double>(call.rows(1)));
  work.read_bytes[0] *= call.rows(1);
  work.written_bytes[1] = call.input(0).bytes();
  return work;
}

// inputs: x, g, lambda, positions, segments, paths; outputs: y, rows of x
void RunSmearCached(const RunContext& c) {
  const tensor::Paths paths = PathsOf(c, 4);
  Keep(c, paths, 0, 1);
  tensor::PathSmear({1, c.rows(0), c.cols(0)}, paths, c.out(1), c.in(1), c.in_as<float>(2),
                    c.out(0));
}
Work WorkSmearCached(const OpCall& call) {
  Work work = ElementwiseWork(call, 3);
  work.written_bytes[1] = call.input(0).bytes();
  return work;
}

// inputs: x [batch, time, width], rows i32 [n] -> [1, n, width]
InferResult InferTakeRows(const OpCall& call) {
  if (call.input(1).shape.size() != 1 || call.input(1).dtype != DType::kI32) {
    return ShapeError("take_rows", call, "x [batch, time, width] and rows i32 [n]");
  }
  return std::vector<ValueSpec>{{{1, call.input(1).shape[0], call.cols(0)}, call.input(0).dtype}};
}
void RunTakeRows(const RunContext& c) {
  const int64_t width = c.cols(0), n = c.input(1).shape[0];
  for (int64_t i = 0; i < n; ++i) {
    tensor::RowCopy(width, tensor::Offset(c.in(0), c.in_as<int32_t>(1)[i] * width),
                    tensor::Offset(c.out(0), i * width));
  }
}
Work WorkTakeRows(const OpCall& call) {
  Work work = ElementwiseWork(call, 0);
  work.read_bytes[0] = call.output(0).bytes();
  return work;
}

}  // namespace

const OpDef kRopeNormCached = {
    "rope_norm_cached", "rope_norm at given positions", InferCached, RunRopeCached, nullptr,
    WorkRopeCached};
const OpDef kAttentionCached = {"attention_cached",
                                "attention over paths; keeps k and v",
                                InferCached,
                                RunAttentionCached,
                                nullptr,
                                WorkAttentionCached};
const OpDef kCausalConvCached = {
    "causal_conv_cached", "causal_conv over paths; keeps x", InferCached, RunConvCached, nullptr,
    WorkConvCached};
const OpDef kSmearCached = {"smear_cached", "smear over paths; keeps x",
                            InferCached,    RunSmearCached,
                            nullptr,        WorkSmearCached};
const OpDef kTakeRows = {"take_rows", "y[i] = x[rows[i]]", InferTakeRows, RunTakeRows,
                         nullptr,     WorkTakeRows};

}  // namespace wt::nn::ops
