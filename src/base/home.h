// Where the project's own files are when a program runs: recipes, data/, kernels.
#pragma once

#include <string>

namespace wt {

// $WINDTUNNEL_HOME, or the folder this was built from.
std::string HomeFolder();

}  // namespace wt
