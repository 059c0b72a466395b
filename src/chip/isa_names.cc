// Names of the enumerations that kernels and messages use.
#include <array>

#include "chip/isa.h"

namespace wt::chip {
namespace {

constexpr std::array<const char*, kNumEngines + 1> kEngines = {
    "tensor", "vector", "scalar", "gpsimd", "sync", "dma", "unknown"};
constexpr std::array<const char*, size_t(AluOp::kCount)> kAluOps = {
    "bypass",        "add",         "subtract",   "multiply",    "divide",      "maximum",
    "minimum",       "power",       "mod",        "fmod",        "abs_max",     "abs_min",
    "average",       "equal",       "not_equal",  "less",        "less_equal",  "greater",
    "greater_equal", "logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and",
    "bitwise_or",    "bitwise_xor", "invert",     "left_shift",  "right_shift", "arith_shift_right",
    "abs",           "square",      "relu",       "rsqrt",       "sqrt",        "reciprocal",
    "negative"};
constexpr std::array<const char*, size_t(Activation::kCount)> kActivations = {
    "copy",
    "identity",
    "square",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "arctan",
    "tanh",
    "sigmoid",
    "relu",
    "prelu",
    "leaky_relu",
    "gelu",
    "gelu_dx",
    "gelu_apprx_tanh",
    "gelu_apprx_tanh_dx",
    "gelu_apprx_sigmoid",
    "gelu_apprx_sigmoid_dx",
    "silu",
    "silu_dx",
    "softplus",
    "mish",
    "erf",
    "erf_dx",
    "abs",
    "sign",
    "ceil",
    "floor",
    "trunc"};

}  // namespace

const char* MemoryName(Memory memory) {
  switch (memory) {
    case Memory::kSbuf:
      return "sbuf";
    case Memory::kPsum:
      return "psum";
    case Memory::kHbm:
      return "hbm";
    case Memory::kRegister:
      return "register";
  }
  return "unknown";
}

const char* EngineName(Engine engine) { return kEngines[static_cast<size_t>(engine)]; }
const char* AluOpName(AluOp op) { return kAluOps[static_cast<size_t>(op)]; }
const char* ActivationName(Activation function) {
  return kActivations[static_cast<size_t>(function)];
}

}  // namespace wt::chip
