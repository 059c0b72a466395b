// Recorded programs on disk, for benchmarks, tests and later questions about the same kernel. A
// file that was cut, altered or made by another version is refused, never half read.
#pragma once

#include <string>

#include "chip/program.h"

namespace wt::chip {

Status SaveProgram(const Program& program, const std::string& path);
Result<Program> LoadProgram(const std::string& path);

// The same without a file.
std::string WriteProgram(const Program& program);
Result<Program> ReadProgram(std::string_view bytes);

}  // namespace wt::chip
