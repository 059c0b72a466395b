// The optimiser's ops. They update persistent tensors in place; learning rates and the like come
// from small `hyper` inputs (optimizer.h names the entries), so a schedule never changes the
// program.
#include <cmath>

#include "nn/ops/ops.h"
#include "nn/optimizer.h"
#include "tensor/adamw.h"
#include "tensor/muon.h"

namespace wt::nn::ops {
namespace {

float Hyper(const RunContext& c, size_t input, HyperIndex index) {
  return c.in_as<float>(input)[static_cast<size_t>(index)];
}

// --- gradient_scale: inputs are hyper and then every gradient; outputs: scale [1], norm [1]
// scale = 1 / micro_batches, less when the norm of the mean gradient exceeds `clip`.

InferResult InferGradientScale(const OpCall&) {
  return std::vector<ValueSpec>{{{1}, DType::kF32}, {{1}, DType::kF32}};
}
void RunGradientScale(const RunContext& c) {
  const double mean = 1.0 / static_cast<double>(c.in_as<float>(0)[0]);
  double squares = 0;
  for (size_t i = 1; i < c.num_inputs(); ++i) {
    squares += tensor::SumOfSquares(NumElements(c.input(i).shape), c.in(i));
  }
  const double norm = std::sqrt(squares) * mean, clip = c.attrs().Real("clip");
  *c.out_as<float>(0) = static_cast<float>(clip > 0 && norm > clip ? mean * clip / norm : mean);
  *c.out_as<float>(1) = static_cast<float>(norm);
}

// --- adamw: inputs gradient, scale, hyper; outputs parameter, m, v

void RunAdamW(const RunContext& c) {
  tensor::AdamWOptions options;
  options.lr = Hyper(c, 2, HyperIndex::kLr);
  options.beta1 = Hyper(c, 2, HyperIndex::kBeta1);
  options.beta2 = Hyper(c, 2, HyperIndex::kBeta2);
  options.eps = static_cast<float>(c.attrs().Real("eps"));
  options.weight_decay = Hyper(c, 2, HyperIndex::kWeightDecay);
  options.grad_scale = *c.in_as<float>(1);
  options.step = static_cast<int64_t>(Hyper(c, 2, HyperIndex::kStep));
  tensor::AdamWStep(NumElements(c.input(0).shape), options, c.in_as<float>(0), c.out_as<float>(0),
                    c.out_as<float>(1), c.out_as<float>(2));
}

// --- muon: inputs gradient [rows, cols], scale, hyper; outputs parameter, momentum, second moment

void RunMuon(const RunContext& c) {
  const Attrs& attrs = c.attrs();
  tensor::MuonOptions options;
  options.lr = Hyper(c, 2, HyperIndex::kLr);
  options.momentum = Hyper(c, 2, HyperIndex::kBeta1);
  options.beta2 = Hyper(c, 2, HyperIndex::kBeta2);
  options.weight_decay = Hyper(c, 2, HyperIndex::kWeightDecay);
  options.grad_scale = *c.in_as<float>(1);
  options.ns_steps = static_cast<int>(attrs.Int("steps"));
  options.nesterov = attrs.Int("nesterov") != 0;
  options.row_equilibrate = attrs.Int("row_equilibrate") != 0;
  options.renormalise = attrs.Int("renormalise") != 0;
  options.normuon = attrs.Int("normuon") != 0;
  options.cautious = attrs.Int("cautious") != 0;
  options.exact = attrs.Int("exact") != 0;
  tensor::MuonStep(1, c.rows(0), c.cols(0), options, c.in_as<float>(0), c.out_as<float>(1),
                   c.out_as<float>(2), c.out_as<float>(0), c.scratch().data());
}
int64_t ScratchMuon(const OpCall& call) {
  return tensor::MuonScratchBytes(call.rows(0), call.cols(0));
}
// Each iteration: A = X X^T, A^2, and (b A + c A^2) X, on the short side s and the long side l.
Work WorkMuon(const OpCall& call) {
  const auto rows = static_cast<double>(call.rows(0)), cols = static_cast<double>(call.cols(0));
  const double s = std::min(rows, cols), l = std::max(rows, cols);
  Work work = ElementwiseWork(call, 30);
  work.matmul_flops =
      static_cast<double>(call.attrs().Int("steps")) * (4 * s * s * l + 2 * s * s * s);
  work.matmul_dtype = call.attrs().Int("exact") ? DType::kF32 : DType::kBF16;
  for (int64_t& bytes : work.written_bytes) bytes *= 2;  // state is read as well
  return work;
}
Work WorkAdamW(const OpCall& call) {
  Work work = ElementwiseWork(call, 14);
  for (int64_t& bytes : work.written_bytes) bytes *= 2;
  return work;
}

// --- ema: inputs parameter, decay [1]; output the average. blend: inputs average, alpha [1];
// output the parameter.

void RunEma(const RunContext& c) {
  tensor::EmaUpdate(NumElements(c.input(0).shape), *c.in_as<float>(1), c.in_as<float>(0),
                    c.out_as<float>(0));
}
void RunBlend(const RunContext& c) {
  tensor::Blend(NumElements(c.input(0).shape), *c.in_as<float>(1), c.out_as<float>(0),
                c.in_as<float>(0), c.out_as<float>(0));
}
Work WorkGradientScale(const OpCall& call) {
  Work work = ElementwiseWork(call, 0);
  for (size_t i = 1; i < call.num_inputs(); ++i) {
    work.vector_flops += 2.0 * static_cast<double>(NumElements(call.input(i).shape));
  }
  return work;
}
Work WorkAverage(const OpCall& call) {
  Work work = ElementwiseWork(call, 3);
  for (int64_t& bytes : work.written_bytes) bytes *= 2;
  return work;
}

}  // namespace

const OpDef kGradientScale = {"gradient_scale",
                              "scale = min(1, clip / norm) / micro_batches",
                              InferGradientScale,
                              RunGradientScale,
                              nullptr,
                              WorkGradientScale};
const OpDef kAdamW = {"adamw",  "AdamW update of one parameter", InferNothing, RunAdamW, nullptr,
                      WorkAdamW};
const OpDef kMuon = {
    "muon",     "Muon update of one matrix", InferNothing, RunMuon, nullptr, WorkMuon, -1, false,
    ScratchMuon};
const OpDef kEma = {
    "ema", "average = decay average + (1 - decay) p", InferNothing, RunEma, nullptr, WorkAverage};
const OpDef kBlend = {
    "blend", "p = (1 - alpha) p + alpha average", InferNothing, RunBlend, nullptr, WorkAverage};

}  // namespace wt::nn::ops
