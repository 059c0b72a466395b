// Activation functions of the feed-forward layers, element by element.
#pragma once

#include <cstdint>

#include "tensor/view.h"

namespace wt::tensor {

enum class Activation {
  kRelu2,       // max(x, 0)^2
  kLeakyRelu2,  // leaky(x)^2 with leaky(x) = x for x > 0, slope * x otherwise
  kGelu,        // x * Phi(x), the erf form
  kSilu,        // x * sigmoid(x)
};

// All arrays have n elements of one dtype (f32, bf16). Outputs may be inputs. `slope` is read by
// kLeakyRelu2 only.
void ActivationForward(Activation kind, float slope, int64_t n, ConstArray x, Array y);
// dx = dy * f'(x).
void ActivationBackward(Activation kind, float slope, int64_t n, ConstArray x, ConstArray dy,
                        Array dx);

// y = silu(gate) * up.
void SwigluForward(int64_t n, ConstArray gate, ConstArray up, Array y);
void SwigluBackward(int64_t n, ConstArray gate, ConstArray up, ConstArray dy, Array dgate,
                    Array dup);

}  // namespace wt::tensor
