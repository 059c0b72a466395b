// Casts, sums and the residual mix: ops that touch each element a few times.
#include "tensor/pointwise.h"

#include <cstring>

#include "base/parallel.h"
#include "nn/ops/ops.h"

namespace wt::nn::ops {
namespace {

bool SameShape(const OpCall& call, size_t a, size_t b) {
  return call.input(a).shape == call.input(b).shape;
}

// --- cast: y = x in another dtype. As a node of the prepare phase its output is persistent.

InferResult InferCast(const OpCall& call) {
  if (!call.attrs().Has("dtype")) return std::vector<ValueSpec>{};
  return std::vector<ValueSpec>{
      {call.input(0).shape, static_cast<DType>(call.attrs().Int("dtype"))}};
}
void RunCast(const RunContext& c) { tensor::Cast(Count(c), c.in(0), c.out(0)); }
void GradCast(GradContext& c) {
  const Attrs attrs = {{"dtype", static_cast<int64_t>(c.value(c.input(0)).dtype)}};
  c.SetInputGradient(0, c.Emit("cast", {c.output_gradient(0)}, attrs).front());
}

// --- zero

void RunZero(const RunContext& c) { tensor::ZeroFill(NumElements(c.output(0).shape), c.out(0)); }

// --- add: y = a + b, in the dtype of a

InferResult InferAdd(const OpCall& call) {
  if (!SameShape(call, 0, 1)) return ShapeError("add", call, "two values of one shape");
  return SameAsInput0(call);
}
void RunAdd(const RunContext& c) { tensor::Add(Count(c), c.in(0), c.in(1), c.out(0)); }
void GradAdd(GradContext& c) {
  const ValueId dy = c.output_gradient(0);
  for (size_t i : {0u, 1u}) {
    if (!c.needs_gradient(i)) continue;
    const DType dtype = c.value(c.input(i)).dtype;
    const bool same = c.value(dy).dtype == dtype;
    const Attrs attrs = {{"dtype", static_cast<int64_t>(dtype)}};
    c.SetInputGradient(i, same ? dy : c.Emit("cast", {dy}, attrs).front());
  }
}

// --- mix: y = r[index] x + z[index] x0

InferResult InferMix(const OpCall& call) {
  const int64_t index = call.attrs().Int("index");
  const bool scalars = call.input(2).dtype == DType::kF32 && call.input(3).dtype == DType::kF32 &&
                       index < call.cols(2) && index < call.cols(3);
  if (!SameShape(call, 0, 1) || call.input(0).dtype != call.input(1).dtype || !scalars) {
    return ShapeError("mix", call,
                      "x, x0 of one shape and dtype and f32 vectors longer than index");
  }
  return SameAsInput0(call);
}
void RunMix(const RunContext& c) {
  const int64_t index = c.attrs().Int("index");
  tensor::MixForward(Count(c), c.in_as<float>(2) + index, c.in_as<float>(3) + index, c.in(0),
                     c.in(1), c.out(0));
}
void GradMix(GradContext& c) {
  const ValueId addend = c.needs_gradient(1) ? c.TakeInputGradient(1) : kNoValue;
  const auto d = c.Emit(
      "mix_grad", {c.output_gradient(0), c.input(0), c.input(1), c.input(2), c.input(3), addend},
      c.attrs(), {c.ParameterGradient(2), c.ParameterGradient(3)});
  if (d.size() < 2) return;
  c.SetInputGradient(1, d[1]);
  c.SetInputGradient(0, d[0]);
}
InferResult InferMixGrad(const OpCall& call) {
  return std::vector<ValueSpec>{call.input(0), call.input(0)};
}
void RunMixGrad(const RunContext& c) {
  const int64_t index = c.attrs().Int("index");
  tensor::MixBackward(Count(c), c.in(0), c.in(1), c.in(2), c.in_as<float>(3) + index,
                      c.in_as<float>(4) + index, c.in(5), c.out(0), c.out(1),
                      c.out_as<float>(2) + index, c.out_as<float>(3) + index);
}

// --- slice_columns: the first `count` channels, which feed gates

InferResult InferSlice(const OpCall& call) {
  const int64_t count = call.attrs().Int("count");
  if (count < 1 || count > call.cols(0)) {
    return ShapeError("slice_columns", call, fmt::format("at least {} channels", count));
  }
  Shape shape = call.input(0).shape;
  shape.back() = count;
  return std::vector<ValueSpec>{{shape, call.input(0).dtype}};
}
void RunSlice(const RunContext& c) {
  const int64_t element = DTypeBytes(c.input(0).dtype);
  const int64_t from = c.cols(0) * element, to = c.attrs().Int("count") * element;
  for (int64_t row = 0; row < c.rows(0); ++row) {
    std::memcpy(c.out_as<char>(0) + row * to, c.in_as<char>(0) + row * from,
                static_cast<size_t>(to));
  }
}
void GradSlice(GradContext& c) {
  const ValueId addend = c.TakeInputGradient(0);
  const Attrs attrs = {{"cols", c.value(c.input(0)).shape.back()}};
  c.SetInputGradient(0,
                     c.Emit("slice_columns_grad", {addend, c.output_gradient(0)}, attrs).front());
}
// inputs: addend or nothing, dy. dx = addend, plus dy in the first columns.
InferResult InferSliceGrad(const OpCall& call) {
  Shape shape = call.input(1).shape;
  shape.back() = call.attrs().Int("cols");
  return std::vector<ValueSpec>{{shape, call.input(1).dtype}};
}
template <class T>
void AddColumns(const RunContext& c) {
  const int64_t narrow = c.cols(1), wide = c.attrs().Int("cols");
  T* out = c.out_as<T>(0);
  const T* dy = c.in_as<T>(1);
  for (int64_t row = 0; row < c.rows(1); ++row) {
    for (int64_t j = 0; j < narrow; ++j) {
      T& x = out[row * wide + j];
      x = T(static_cast<float>(x) + static_cast<float>(dy[row * narrow + j]));
    }
  }
}
void RunSliceGrad(const RunContext& c) {
  const auto bytes = static_cast<size_t>(c.output(0).bytes());
  if (!c.has_input(0)) {
    std::memset(c.out(0).data, 0, bytes);
  } else if (c.in(0).data != c.out(0).data) {
    std::memcpy(c.out(0).data, c.in(0).data, bytes);
  }
  c.output(0).dtype == DType::kBF16 ? AddColumns<BF16>(c) : AddColumns<float>(c);
}

Work WorkMove(const OpCall& call) { return ElementwiseWork(call, 0); }
Work WorkAdd(const OpCall& call) { return ElementwiseWork(call, 1); }
Work WorkMix(const OpCall& call) { return ElementwiseWork(call, 3); }
Work WorkMixGrad(const OpCall& call) { return ElementwiseWork(call, 7); }

}  // namespace

InferResult SameAsInput0(const OpCall& call) { return std::vector<ValueSpec>{call.input(0)}; }

const OpDef kCast = {"cast", "y = x in another dtype", InferCast, RunCast, GradCast, WorkMove};
const OpDef kZero = {"zero", "y = 0", InferNothing, RunZero, nullptr, WorkMove};
const OpDef kAdd = {"add", "y = a + b", InferAdd, RunAdd, GradAdd, WorkAdd, 0};
const OpDef kMix = {"mix", "y = r x + z x0", InferMix, RunMix, GradMix, WorkMix, -1, true};
const OpDef kMixGrad = {"mix_grad",
                        "dx = r dy; dx0 += z dy; dr += dy.x; dz += dy.x0",
                        InferMixGrad,
                        RunMixGrad,
                        nullptr,
                        WorkMixGrad,
                        0};
const OpDef kSliceColumns = {"slice_columns", "y = x[:, :count]", InferSlice,
                             RunSlice,        GradSlice,          WorkMove};
const OpDef kSliceColumnsGrad = {"slice_columns_grad",
                                 "dx = addend; dx[:, :count] += dy",
                                 InferSliceGrad,
                                 RunSliceGrad,
                                 nullptr,
                                 WorkAdd,
                                 0};

}  // namespace wt::nn::ops
