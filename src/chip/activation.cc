#include "chip/activation.h"

namespace wt::chip {

void ActivationRow(Activation function, const float* in, float scale, float bias, float alpha,
                   float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<float>(ActivationExact(function, in[i] * scale + bias, alpha));
}

}  // namespace wt::chip
