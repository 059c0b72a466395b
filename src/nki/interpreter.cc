#include "nki/interpreter.h"

#include <cstdlib>
#include <mutex>

#include "nki/errors.h"
#include "nki/module.h"

namespace wt::nki {
namespace {

Status StartPython() {
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;
  config.parse_argv = 0;
  PyStatus status = PyConfig_SetBytesString(&config, &config.program_name, WT_PYTHON_PROGRAM);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (!PyStatus_Exception(status)) return {};
  return Error(Code::kIo, "the Python interpreter does not start: {}",
               status.err_msg ? status.err_msg : "no reason given");
}

// import nki, with our own native part instead of the extension on disk.
bool PrepareImports() {
  PyObject* modules = PyImport_GetModuleDict();
  const Ref core = Ref::Steal(MakeCoreModule());
  if (!core || PyDict_SetItemString(modules, "nki._core", core.get()) < 0) return false;
  PyObject* path = PySys_GetObject("path");
  const Ref folder = Ref::Steal(MakeString(PythonFolder()));
  return path && folder && PyList_Insert(path, 0, folder.get()) == 0;
}

Status StartOnce() {
  if (Py_IsInitialized()) {
    return Error(Code::kUnsupported, "another interpreter already runs in this process");
  }
  WT_RETURN_IF_ERROR(StartPython());
  const Status ready = PrepareImports() ? Status() : PythonError("preparing nki");
  PyEval_SaveThread();
  return ready;
}

}  // namespace

std::string PythonFolder() {
  const char* folder = std::getenv("WINDTUNNEL_PYTHON");
  return folder && *folder ? folder : WT_PYTHON_FOLDER;
}

std::string PythonProgram() { return WT_PYTHON_PROGRAM; }

Status Interpreter::Start() {
  static std::once_flag once;
  static Status status;
  std::call_once(once, [] { status = StartOnce(); });
  return status;
}

Status PythonError(const std::string& what) {
  Code code = Code::kInvalidArgument;
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) code = Code::kInterrupted;
  const PythonFailure failure = TakeException();
  if (failure.kernel_error)
    code = chip::MakeKernelError(chip::ClassOf(Status(code, failure.text)), "").code();
  const std::string head = what.empty() ? failure.text : fmt::format("{}: {}", what, failure.text);
  return Status(code, head + "\n" + failure.traceback);
}

}  // namespace wt::nki
