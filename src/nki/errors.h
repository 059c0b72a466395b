// Status as Python exceptions: one class a row of chip/error_class.h, all derived from
// nki.NkiError, which is a ValueError and an AssertionError so that handlers written for other
// simulators catch it.
#pragma once

#include "nki/python.h"
// After Python.h.
#include "chip/error_class.h"

namespace wt::nki {

// Makes the classes and adds them to the module; false with a Python exception set.
bool InitErrors(PyObject* module);

// Sets the exception; returns null so that `return Raise(status);` reads well. Requires !ok().
PyObject* Raise(const Status& status);

template <class... Args>
PyObject* RaiseKernelError(chip::ErrorClass id, fmt::format_string<Args...> format,
                           Args&&... args) {
  return Raise(chip::MakeKernelError(id, fmt::format(format, std::forward<Args>(args)...)));
}

// The pending Python exception, taken off the interpreter.
struct PythonFailure {
  std::string text;           // "[shape] …", "TypeError: …"
  std::string traceback;      // as Python prints it
  bool kernel_error = false;  // an nki.NkiError
};
PythonFailure TakeException();

}  // namespace wt::nki
