// The Python interpreter inside a program of ours, with nki ready to import.
#pragma once

#include "nki/python.h"
// After Python.h.
#include "base/status.h"
#include "nki/python_folder.h"

namespace wt::nki {

// Starts the interpreter unless it runs, and holds its lock while it lives.
class Interpreter {
 public:
  static Status Start();
  Interpreter() : state_(PyGILState_Ensure()) {}  // requires Start
  ~Interpreter() { PyGILState_Release(state_); }
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

 private:
  PyGILState_STATE state_;
};

// The pending exception as a Status: its message, which begins with its error class when the kernel
// misused the machine, then the traceback.
Status PythonError(const std::string& what);

}  // namespace wt::nki
