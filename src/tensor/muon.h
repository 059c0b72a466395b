// Muon (Jordan et al., 2024) for weight matrices: momentum, orthogonalisation by the Polar Express
// iteration (Amsel et al., arXiv 2505.16932), then optional normalisations and cautious decay.
#pragma once

#include <cstdint>

namespace wt::tensor {

struct MuonOptions {
  float lr = 0.02f;  // multiplied by sqrt(max(1, rows / cols)) inside
  float momentum = 0.95f;
  float weight_decay = 0;
  float beta2 = 0.9f;    // of the NorMuon second moment
  float grad_scale = 1;  // multiplies the gradient as it is read
  int ns_steps = 5;      // 1 .. 5
  bool nesterov = true;
  bool row_equilibrate = false;  // MuonEq (arXiv 2603.28254): rows to the rms row norm beforehand
  bool renormalise = false;  // Muon+ (arXiv 2602.21545): Frobenius norm to sqrt(min(rows, cols))
  bool normuon = true;   // NorMuon (arXiv 2510.05491): scale per row, or column when cols > rows
  bool cautious = true;  // decay only where update and weight agree in sign
  bool exact = false;    // fp32 products in place of bf16 operands; for tests
};

// Elements of `second_moment` for one matrix: rows when rows >= cols, else cols.
int64_t MuonSecondMomentSize(int64_t rows, int64_t cols);
// Bytes of `scratch`, which must be aligned to 64 bytes.
int64_t MuonScratchBytes(int64_t rows, int64_t cols);

// One update of `count` matrices of the same shape. grad, momentum, weights: f32 [count, rows,
// cols]; second_moment: f32 [count, MuonSecondMomentSize], not touched without normuon. State
// starts at 0.
void MuonStep(int64_t count, int64_t rows, int64_t cols, const MuonOptions& options,
              const float* grad, float* momentum, float* second_moment, float* weights,
              void* scratch);

// x: f32 [rows, cols], replaced by its approximate polar factor: x / (1.01 ||x|| + 1e-6), then
// `steps` iterations. Five leave the singular values that were not tiny within about [0.9, 1.1].
void PolarExpress(int64_t rows, int64_t cols, int steps, bool exact, float* x, void* scratch);

}  // namespace wt::tensor
