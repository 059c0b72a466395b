// How near each element-by-element kernel comes to memcpy on an activation of 8192 x 640 bf16, and
// what share of the language-model head is not matrix products. Bytes are those that the kernel
// must read and write once.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "tensor/activation.h"
#include "tensor/adamw.h"
#include "tensor/conv.h"
#include "tensor/cross_entropy.h"
#include "tensor/embedding.h"
#include "tensor/gate.h"
#include "tensor/matmul.h"
#include "tensor/muon.h"
#include "tensor/norm.h"
#include "tensor/pointwise.h"
#include "tensor/rope.h"
#include "tensor/smear.h"
#include "tensor/softmax.h"
#include "tensor/split.h"

namespace wt::tensor {
namespace {

constexpr int64_t kRows = 8192, kWidth = 640, kHeads = 5, kVocab = 8192, kSize = kRows * kWidth;

// Buffer number i of kSize random elements.
Array Buffer(int i, DType dtype = DType::kBF16) {
  static std::map<std::pair<int, DType>, std::vector<float>> buffers;
  std::vector<float>& data = buffers[{i, dtype}];
  if (data.empty()) {
    data.resize(kSize);
    Philox random(i, 0);
    for (int64_t k = 0; k < kSize; ++k) {
      const float value = random.NextNormal() * 0.1f;
      if (dtype == DType::kF32)
        data[k] = value;
      else
        reinterpret_cast<BF16*>(data.data())[k] = BF16(value);
    }
  }
  return {data.data(), dtype};
}
float* Floats(int i) { return static_cast<float*>(Buffer(i, DType::kF32).data); }

void Measure(const std::string& name, double bytes_per_element, const std::function<void()>& run) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 for (auto _ : state) run();
                                 state.SetBytesProcessed(static_cast<int64_t>(
                                     state.iterations() * bytes_per_element * kSize));
                               })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

const std::vector<int32_t>& Ids() {
  static const std::vector<int32_t> ids = [] {
    Philox random(7, 0);
    std::vector<int32_t> out(kRows);
    for (int32_t& id : out) id = static_cast<int32_t>(random.NextBelow(kVocab));
    return out;
  }();
  return ids;
}

void RegisterElementwise() {
  const auto b = [](int i) { return Buffer(i); };
  static float r = 1.1f, z = 0.1f, sum = 0;
  Measure("memcpy", 4, [=] {
    const auto* from = static_cast<BF16*>(b(0).data);
    auto* to = static_cast<BF16*>(b(1).data);
    SplitElements(kSize, [=](int64_t begin, int64_t end) {
      std::memcpy(static_cast<void*>(to + begin), from + begin, 2 * (end - begin));
    });
  });
  Measure("cast f32 to bf16", 6, [=] { Cast(kSize, Buffer(0, DType::kF32), b(1)); });
  Measure("add", 6, [=] { Add(kSize, b(0), b(1), b(2)); });
  Measure("mix", 6, [=] { MixForward(kSize, &r, &z, b(0), b(1), b(2)); });
  Measure("mix backward", 12,
          [=] { MixBackward(kSize, b(0), b(1), b(2), &r, &z, b(3), b(4), b(3), &sum, &sum); });
  for (auto [name, kind] : {std::pair{"relu2", Activation::kRelu2},
                            {"gelu", Activation::kGelu},
                            {"silu", Activation::kSilu}}) {
    Measure(name, 4, [=] { ActivationForward(kind, 0, kSize, b(0), b(1)); });
    Measure(std::string(name) + " backward", 6,
            [=] { ActivationBackward(kind, 0, kSize, b(0), b(1), b(2)); });
  }
  Measure("swiglu", 6, [=] { SwigluForward(kSize, b(0), b(1), b(2)); });
  Measure("swiglu backward", 10, [=] { SwigluBackward(kSize, b(0), b(1), b(2), b(3), b(4)); });
}

void RegisterRowwise() {
  const auto b = [](int i) { return Buffer(i); };
  static float lambda = 0.3f, sum = 0;
  Measure("rms norm", 4, [=] { RmsNormForward(kRows, kWidth, 1e-6f, b(0), b(1)); });
  Measure("rms norm backward", 8,
          [=] { RmsNormBackward(kRows, kWidth, 1e-6f, b(0), b(1), b(2), b(3)); });
  const RopeShape rope{8, kRows / 8, kHeads, kWidth / kHeads, 1e5, 0, true, 1e-6f, 1.2f};
  Measure("rope and norm", 4, [=] { RopeNormForward(rope, b(0), b(1)); });
  Measure("rope and norm backward", 6, [=] { RopeNormBackward(rope, b(0), b(1), b(2)); });
  Measure("embedding", 4,
          [=] { EmbeddingForward(kRows, kWidth, kVocab, Ids().data(), b(0), b(1)); });
  Measure("embedding backward", 10,
          [=] { EmbeddingBackward(kRows, kWidth, kVocab, Ids().data(), b(0), Floats(1)); });
  const SmearShape smear{8, kRows / 8, kWidth};
  Measure("smear", 4, [=] { SmearForward(smear, b(0), b(5), &lambda, b(1)); });
  Measure("smear backward", 6,
          [=] { SmearBackward(smear, b(0), b(5), &lambda, b(1), b(2), b(6), &sum); });
  const GateShape gate{kRows, kHeads, kWidth / kHeads, 3};
  Measure("value gate", 6, [=] { GateForward(gate, b(0), b(5), b(1), b(2)); });
  Measure("value gate backward", 6, [=] { GateBackward(gate, b(5), b(0), b(1), b(6), b(2)); });
  const ConvShape conv{8, kRows / 8, kWidth, 4};
  Measure("convolution, 4 taps", 4, [=] { ConvForward(conv, b(0), Floats(5), b(1)); });
  Measure("convolution backward, 4 taps", 6,
          [=] { ConvBackward(conv, b(0), Floats(5), b(1), b(2), Floats(6)); });
}

void RegisterOptimisers() {
  Measure("adamw", 28, [] {
    AdamWOptions options;
    options.eps = 1e-3f;
    AdamWStep(kSize, options, Floats(0), Floats(1), Floats(2), Floats(7));
  });
  Measure("ema", 12, [] { EmaUpdate(kSize, 0.99f, Floats(0), Floats(1)); });
  Measure("sum of squares, f32", 4,
          [] { benchmark::DoNotOptimize(SumOfSquares(kSize, Buffer(0, DType::kF32))); });
  static std::vector<float> scratch(MuonScratchBytes(640, 2560) / 4 + 16);
  void* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) / 4 % 16;
  // Three matrices, so bytes are of no interest; compare with the products below.
  Measure("muon, 3 of 640 x 2560", 0, [=] {
    MuonStep(3, 640, 2560, MuonOptions{}, Floats(0), Floats(3), Floats(7), Floats(4), aligned);
  });
  Measure("muon's products alone", 0, [=] {
    const Array x = Buffer(0), a = Buffer(1);
    const ConstMatrix xm = RowMajor(x.data, x.dtype, 640, 2560),
                      am = RowMajor(a.data, a.dtype, 640, 640);
    const Matrix gram = MutableRowMajor(Floats(5), DType::kF32, 640, 640);
    for (int i = 0; i < 15; ++i) {
      MatMul(xm, xm.Transposed(), gram);
      MatMul(am, am, gram);
      MatMul(am, xm, MutableRowMajor(Floats(6), DType::kF32, 640, 2560), true);
    }
  });
}

void RegisterHead() {
  static const std::vector<float> weight = {1.0f};
  static std::vector<float> logits(512 * kVocab), d_w(kVocab * kWidth);
  const HeadLossShape shape{8, kRows / 8, kWidth, kVocab, 15.0f, 1};
  Measure("head loss, forward and backward", 0, [=] {
    float loss;
    const HeadLossInputs in{Buffer(0), Buffer(1), Ids().data(), weight.data()};
    HeadLossForwardBackward(shape, in, 1.0f, &loss, nullptr, Buffer(2), d_w.data());
  });
  Measure("head loss, its products alone", 0, [] {
    const Array x = Buffer(0), w = Buffer(1), d_x = Buffer(2);
    const ConstMatrix wm = RowMajor(w.data, w.dtype, kVocab, kWidth);
    const ConstMatrix d{logits.data(), DType::kBF16, 512, kVocab, 2 * kVocab, 1};
    for (int64_t first = 0; first < kRows; first += 512) {
      const ConstMatrix xm = RowMajor(x.data, x.dtype, kRows, kWidth).Block(first, 512, 0, kWidth);
      MatMul(xm, wm.Transposed(), MutableRowMajor(logits.data(), DType::kF32, 512, kVocab));
      MatMul(d, wm, MutableRowMajor(d_x.data, DType::kBF16, 512, kWidth));
      MatMul(d.Transposed(), xm, MutableRowMajor(d_w.data(), DType::kF32, kVocab, kWidth), true);
    }
  });
  Measure("head loss, its softmax alone", 0, [] {
    const auto row = [](int64_t i) {
      float* z = logits.data() + i % 512 * kVocab;
      const float lse = SoftcapLogSumExp(kVocab, 15.0f, z);
      SoftmaxGradient(kVocab, 15.0f, lse, 1.0f, z, {z, DType::kBF16});
    };
    ParallelFor(kRows, std::cref(row));
  });
}

}  // namespace
}  // namespace wt::tensor

// WT_BENCH_THREADS=1 measures on one core; its CPU column holds on a busy machine too.
int main(int argc, char** argv) {
  if (const char* threads = std::getenv("WT_BENCH_THREADS")) wt::SetThreads(std::atoi(threads));
  for (int i = 0; i < 8; ++i) {
    wt::tensor::Buffer(i, wt::DType::kF32);
    wt::tensor::Buffer(i, wt::DType::kBF16);
  }
  wt::tensor::RegisterElementwise();
  wt::tensor::RegisterRowwise();
  wt::tensor::RegisterOptimisers();
  wt::tensor::RegisterHead();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
