// The functions of the Scalar engine on rows of fp32: our own polynomials, with their largest error
// against exact values in the table of activation_test.cc. Hardware uses piecewise polynomials of
// unpublished error (chip.md 8).
#pragma once

#include <cstdint>

#include "chip/isa.h"

namespace wt::chip {

// out[i] = function(in[i] * scale + bias); `alpha` is the slope of prelu for negative arguments.
// out may be in.
void ActivationRow(Activation function, const float* in, float scale, float bias, float alpha,
                   float* out, int64_t n);

// The first i with in[i] * scale + bias (or its magnitude) outside [low, high]; n when there is
// none. NaN counts as inside.
int64_t FirstOutside(const float* in, float scale, float bias, float low, float high,
                     bool magnitude, int64_t n);

// The plain twin: the function in double, by libm.
double ActivationExact(Activation function, double x, double alpha = 0);

}  // namespace wt::chip
