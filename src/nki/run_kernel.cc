#include "nki/interpreter.h"
// After Python.h.
#include "base/files.h"
#include "nki/host_array_type.h"
#include "nki/platform.h"
#include "nki/run_kernel.h"
#include "nki/session_type.h"

namespace wt::nki {
namespace {

// [(name, HostArray or str), …]
PyObject* ArgsToPython(const std::vector<KernelArg>& args) {
  Ref list = Ref::Steal(PyList_New(0));
  for (const KernelArg& arg : args) {
    const auto* array = std::get_if<HostArray>(&arg.value);
    const Ref value =
        Ref::Steal(array ? NewHostArray(*array) : MakeString(std::get<std::string>(arg.value)));
    const Ref pair =
        Ref::Steal(value ? Py_BuildValue("sO", arg.name.c_str(), value.get()) : nullptr);
    if (!list || !pair || PyList_Append(list.get(), pair.get()) < 0) return nullptr;
  }
  return list.release();
}

// [(name, HostArray), …] back; others are not arrays and left out.
std::vector<KernelOutput> OutputsFromPython(PyObject* list) {
  std::vector<KernelOutput> outputs;
  for (Py_ssize_t i = 0; PyList_Check(list) && i < PyList_GET_SIZE(list); ++i) {
    PyObject* pair = PyList_GET_ITEM(list, i);
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) continue;
    HostArray* array = AsHostArray(PyTuple_GET_ITEM(pair, 1));
    if (!array || !PyUnicode_Check(PyTuple_GET_ITEM(pair, 0))) continue;
    outputs.push_back({std::string(Utf8(PyTuple_GET_ITEM(pair, 0))), std::move(*array)});
  }
  return outputs;
}

Result<std::vector<std::shared_ptr<Session>>> MakeSessions(const KernelRun& run,
                                                           const chip::CoreOptions& options) {
  const std::string platform = run.platform.empty() ? PlatformOfEnvironment() : run.platform;
  WT_ASSIGN_OR_RETURN(const auto machine, MachineOfPlatform(platform));
  if (run.cores < 1 || run.cores > 2) {
    return Error(Code::kInvalidArgument, "{} cores; expected 1 or 2", run.cores);
  }
  auto hbm = std::make_shared<chip::Hbm>(run.cores, machine->hbm_bytes);
  std::vector<std::shared_ptr<Session>> sessions;
  for (int rank = 0; rank < run.cores; ++rank) {
    sessions.push_back(std::make_shared<Session>(machine, options, rank, hbm));
    sessions.back()->set_has_grid(run.cores > 1);
    if (run.attach) run.attach(sessions.back()->core());
  }
  return sessions;
}

PyObject* SessionsToPython(const std::vector<std::shared_ptr<Session>>& sessions) {
  Ref list = Ref::Steal(PyList_New(0));
  for (const auto& session : sessions) {
    const Ref object = Ref::Steal(NewSession(session));
    if (!list || !object || PyList_Append(list.get(), object.get()) < 0) return nullptr;
  }
  return list.release();
}

// nki._file.NAME(args…)
template <class... Args>
Ref CallDriver(const char* name, const Args&... args) {
  const Ref driver = Ref::Steal(PyImport_ImportModule("nki._file")),
            method = Ref::Steal(PyUnicode_FromString(name));
  if (!driver || !method || (... || !args)) return {};
  return Ref::Steal(PyObject_CallMethodObjArgs(driver.get(), method.get(), args.get()..., nullptr));
}

Ref String(const std::string& text) { return Ref::Steal(MakeString(text)); }

std::string ToolchainOf(PyObject* kernel) {
  const Ref name = Ref::Steal(PyObject_GetAttrString(kernel, "toolchain"));
  if (name && PyUnicode_Check(name.get())) return std::string(Utf8(name.get()));
  PyErr_Clear();
  return {};
}

// Whether reading what nothing has written is an error in kernels of this generation.
bool ChecksUninitialized(PyObject* kernel) {
  const Ref checks = Ref::Steal(PyObject_CallMethod(kernel, "checks_uninitialized", nullptr));
  PyErr_Clear();
  return checks.get() != Py_False;
}

Status CheckFile(const std::string& file) {
  if (FileExists(file)) return {};
  return Error(Code::kNotFound, "{}: no such file; expected FILE.py:KERNEL", file);
}

}  // namespace

Result<std::pair<std::string, std::string>> SplitKernelName(const std::string& text) {
  const size_t colon = text.rfind(".py:");
  if (colon != text.npos) {
    return std::pair(text.substr(0, colon + 3), text.substr(colon + 4));
  }
  if (text.ends_with(".py")) return std::pair(text, std::string());
  return Error(Code::kInvalidArgument,
               "{}: expected FILE.py:KERNEL, such as kernels/matmul.py:matmul_tiled", text);
}

Result<KernelResult> RunKernel(const KernelRun& run) {
  WT_RETURN_IF_ERROR(CheckFile(run.file));
  WT_RETURN_IF_ERROR(Interpreter::Start());
  const Interpreter python;
  const Ref kernel = CallDriver("find_kernel", String(run.file), String(run.function));
  if (!kernel) return PythonError("");
  chip::CoreOptions core_options = run.options;
  core_options.check_uninitialized &= ChecksUninitialized(kernel.get());
  WT_ASSIGN_OR_RETURN(const auto sessions, MakeSessions(run, core_options));
  const Ref outputs = CallDriver("run_kernel", kernel, Ref::Steal(ArgsToPython(run.args)),
                                 Ref::Steal(SessionsToPython(sessions)), String(run.grid));
  const Status status = outputs ? Status() : PythonError("");
  for (const auto& session : sessions) session->Close();
  if (!status.ok()) return status;
  KernelResult result;
  result.outputs = OutputsFromPython(outputs.get());
  result.machine = sessions[0]->core().shared_machine();
  result.toolchain = ToolchainOf(kernel.get());
  for (const auto& session : sessions) {
    result.num_instructions.push_back(session->core().num_instructions());
    result.sources.push_back(session->core().shared_sources());
  }
  return result;
}

Result<std::vector<HostArray>> RunFunction(const std::string& file, const std::string& function,
                                           const std::vector<KernelArg>& args) {
  WT_RETURN_IF_ERROR(CheckFile(file));
  WT_RETURN_IF_ERROR(Interpreter::Start());
  const Interpreter python;
  const Ref outputs =
      CallDriver("run_function", String(file), String(function), Ref::Steal(ArgsToPython(args)));
  if (!outputs) return PythonError("");
  std::vector<HostArray> arrays;
  for (KernelOutput& output : OutputsFromPython(outputs.get())) {
    arrays.push_back(std::move(output.array));
  }
  return arrays;
}

}  // namespace wt::nki
