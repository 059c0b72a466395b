// Arguments of a kernel as a command line writes them: x=128x512:bf16 (random values), x=file.npy,
// n=3, mode=fast, dtype=nl.bfloat16.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "nki/host_array.h"

namespace wt::nki {

struct KernelArg {
  std::string name;
  // An array, or the text of a Python literal (text that is none is a string).
  std::variant<HostArray, std::string> value;
};

struct ArgOptions {
  uint64_t seed = 0;   // of random arrays; each argument draws its own, by its name
  bool values = true;  // false: arrays have shape and type only
};

Result<KernelArg> ParseKernelArg(const std::string& text, const ArgOptions& options);

// Normally distributed floats, integers from 0 to 99.
void FillRandom(HostArray* array, uint64_t seed, const std::string& name);

}  // namespace wt::nki
