// Model files of users: compiled with the system's C++ compiler and loaded into this process.
#pragma once

#include <string>

#include "nn/gpt.h"

namespace wt::train {

// Compiles `source` (a .cc that uses nn/model_file.h) into `cache`, unless it is there already for this very
// text and program, and loads it. The shared object stays loaded for good. Fails with the compiler's own first
// errors. The file is code and runs with the user's rights: only load what you trust.
Result<nn::ModelFunction> LoadUserModel(const std::string& source, const std::string& cache);

// The built-in family when `source` is empty.
Result<nn::ModelFunction> ResolveModel(const std::string& source, const std::string& cache);

}  // namespace wt::train
