// Where the Python package nki lies.
#pragma once

#include <string>

namespace wt::nki {

// The folder that holds the package nki: for PYTHONPATH. $WINDTUNNEL_PYTHON, or where it was built.
std::string PythonFolder();
// The Python that the package was built for; kernels of other people run in processes of it.
std::string PythonProgram();

}  // namespace wt::nki
