// nki._core, the native part of the Python package.
#pragma once

#include "nki/python.h"

namespace wt::nki {

// A new module, for the extension's entry point and for programs that embed the interpreter; null
// with a Python exception set. Types are made once a process.
PyObject* MakeCoreModule();

}  // namespace wt::nki
