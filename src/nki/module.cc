#include "nki/module.h"

#include <algorithm>

#include "nki/buffers.h"
#include "nki/dtype_type.h"
#include "nki/enums.h"
#include "nki/errors.h"
#include "nki/host_array_type.h"
#include "nki/instr_type.h"
#include "nki/platform.h"
#include "nki/session_type.h"
#include "nki/tensor_type.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;

PyObject* None(bool ok) { return ok ? Py_NewRef(Py_None) : nullptr; }

// register_enum(name, class)
PyObject* RegisterEnumFunction(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  PyObject* enum_class = nullptr;
  if (!PyArg_ParseTuple(arguments, "sO:register_enum", &name, &enum_class)) return nullptr;
  if (std::string_view(name) == "buffer") return None(RegisterBuffers(enum_class));
  return None(RegisterEnum(name, enum_class));
}

// register_op(callable, name): gives the callable back, so that it serves as a decorator's end.
PyObject* RegisterOpFunction(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  PyObject* callable = nullptr;
  if (!PyArg_ParseTuple(arguments, "Os:register_op", &callable, &name)) return nullptr;
  return RegisterOp(callable, name) ? Py_NewRef(callable) : nullptr;
}

PyObject* AddPackageFolderFunction(PyObject*, PyObject* folder) {
  if (!PyUnicode_Check(folder)) return None(true);
  AddPackageFolder(std::string(Utf8(folder)));
  return None(!PyErr_Occurred());
}

bool ParseAddress(PyObject* object, std::optional<chip::Address>* address) {
  if (!object || object == Py_None) return true;
  std::vector<int64_t> numbers;
  if (!ParseInts(object, "ndarray: address", &numbers)) return false;
  if (numbers.size() == 2) {
    chip::Address place;
    place.partition = static_cast<int>(std::clamp<int64_t>(numbers[0], -1, 1 << 20));
    place.byte = numbers[1];
    *address = place;
    return true;
  }
  RaiseKernelError(ErrorClass::kArgument,
                   "ndarray: address is {}; expected (partition, byte within the partition)",
                   ReprOf(object));
  return false;
}

bool ParseName(PyObject* object, std::string* name) {
  if (!object || object == Py_None) return true;
  if (PyUnicode_Check(object)) {
    *name = Utf8(object);
    if (!PyErr_Occurred()) return true;
    PyErr_Clear();
  }
  RaiseKernelError(ErrorClass::kArgument, "ndarray: name is {}; expected a string", ReprOf(object));
  return false;
}

// Shape to a spec: on chip the first dimension are partitions.
Status FillSizes(std::span<const int64_t> shape, chip::TensorSpec* spec) {
  int64_t bytes = 0;
  WT_RETURN_IF_ERROR(TensorBytes(shape, spec->dtype, &bytes));
  spec->partitions = chip::IsOnChip(spec->memory) ? shape[0] : 1;
  spec->partition_bytes = bytes / spec->partitions;
  return {};
}

// ndarray(shape, dtype, buffer=sbuf, name="", address=None)
PyObject* NdarrayFunction(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"shape", "dtype", "buffer", "name", "address", nullptr};
  PyObject *shape = nullptr, *dtype = nullptr, *buffer = nullptr, *name = nullptr,
           *address = nullptr;
  std::vector<int64_t> sizes;
  DType element;
  chip::TensorSpec spec;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|OOO:ndarray", const_cast<char**>(names),
                                   &shape, &dtype, &buffer, &name, &address)) {
    return nullptr;
  }
  Session* session = CurrentOrRaise("ndarray");
  if (!session || !ParseInts(shape, "ndarray: shape", &sizes) ||
      !ParseDTypeObject(dtype, "ndarray: dtype", &element) ||
      (buffer && !ParseBuffer(buffer, &spec.memory, &spec.shared)) ||
      !ParseName(name, &spec.name) || !ParseAddress(address, &spec.address)) {
    return nullptr;
  }
  spec.dtype = StoredType(session->wide(), element);
  if (const Status status = FillSizes(sizes, &spec); !status.ok()) {
    return Raise(status);
  }
  spec.source = session->Here();
  auto storage = session->Declare(std::move(spec), element, nullptr);
  return storage.ok() ? NewTensor(*storage, sizes) : Raise(storage.status());
}

// register(frozen=False): a register without a value.
PyObject* RegisterFunction(PyObject*, PyObject* frozen) {
  Session* session = CurrentOrRaise("register_alloc");
  if (!session) return nullptr;
  chip::TensorSpec spec;
  spec.memory = chip::Memory::kRegister;
  spec.dtype = DType::kI32;
  spec.partition_bytes = DTypeBytes(DType::kI32);
  spec.is_register = true;
  spec.source = session->Here();
  auto storage = session->Declare(spec, DType::kI32, nullptr);
  if (!storage.ok()) return Raise(storage.status());
  (*storage)->frozen = frozen == Py_True;
  return NewRegister(*storage);
}

// freeze(register, bool): loops write their own register and nobody else may.
PyObject* FreezeFunction(PyObject*, PyObject* arguments) {
  PyObject* object = nullptr;
  int frozen = 0;
  if (!PyArg_ParseTuple(arguments, "Op:freeze", &object, &frozen)) return nullptr;
  if (!IsRegister(object)) {
    return RaiseKernelError(ErrorClass::kArgument, "freeze: {} is no register", ReprOf(object));
  }
  AsRegister(object)->storage->frozen = frozen != 0;
  return None(true);
}

PyObject* ReadRegisterFunction(PyObject*, PyObject* object) {
  if (!IsRegister(object)) {
    return RaiseKernelError(ErrorClass::kArgument, "read_register: {} is no register",
                            ReprOf(object));
  }
  int64_t value = 0;
  return ReadRegister(object, &value) ? PyLong_FromLongLong(value) : nullptr;
}

// mark_comparison(tensor): bool(tensor) is then whether all elements are true.
PyObject* MarkComparisonFunction(PyObject*, PyObject* object) {
  if (!IsTensor(object)) {
    return RaiseKernelError(ErrorClass::kArgument, "{} is no tensor", ReprOf(object));
  }
  AsTensor(object)->comparison = true;
  return Py_NewRef(object);
}

PyObject* RankFunction(PyObject*, PyObject*) {
  const Session* session = Session::Current();
  return PyLong_FromLong(session ? const_cast<Session*>(session)->core().rank() : 0);
}
PyObject* CoresFunction(PyObject*, PyObject*) {
  const Session* session = Session::Current();
  return PyLong_FromLong(session ? session->cores() : 1);
}
PyObject* ProgramNdimFunction(PyObject*, PyObject*) {
  const Session* session = Session::Current();
  return PyLong_FromLong(session && session->has_grid() ? 1 : 0);
}
PyObject* RunningFunction(PyObject*, PyObject*) {
  return PyBool_FromLong(Session::Current() != nullptr);
}
PyObject* HasValuesFunction(PyObject*, PyObject*) {
  Session* session = Session::Current();
  return PyBool_FromLong(session && session->core().options().values);
}

// source(): the number of the place in the kernel's text that runs; 0 outside kernels.
PyObject* SourceFunction(PyObject*, PyObject*) {
  Session* session = Session::Current();
  return PyLong_FromUnsignedLong(session ? session->Here() : 0);
}
// set_source(number): instructions count as written there from now on; 0: where they are.
PyObject* SetSourceFunction(PyObject*, PyObject* number) {
  const unsigned long source = PyLong_AsUnsignedLong(number);
  if (PyErr_Occurred()) return nullptr;
  if (Session* session = Session::Current())
    session->set_source(static_cast<chip::SourceId>(source));
  Py_RETURN_NONE;
}

PyObject* BeginOrderedFunction(PyObject*, PyObject*) {
  Session* session = CurrentOrRaise("no_reorder");
  if (session) session->BeginOrdered();
  return None(session != nullptr);
}
PyObject* EndOrderedFunction(PyObject*, PyObject*) {
  if (Session* session = Session::Current()) session->EndOrdered();
  Py_RETURN_NONE;
}
PyObject* OrderedFunction(PyObject*, PyObject*) {
  const Session* session = Session::Current();
  return PyBool_FromLong(session && session->ordered());
}

// raise_error(class_name, text)
PyObject* RaiseErrorFunction(PyObject*, PyObject* arguments) {
  const char *name = nullptr, *text = nullptr;
  if (!PyArg_ParseTuple(arguments, "ss:raise_error", &name, &text)) return nullptr;
  for (const auto& row : chip::ErrorClasses()) {
    if (std::string_view(name) == row.name) return Raise(chip::MakeKernelError(row.id, text));
  }
  return RaiseKernelError(ErrorClass::kInternal, "raise_error: no class {}", name);
}

PyMethodDef functions[] = {
    {"register_enum", RegisterEnumFunction, METH_VARARGS, "register_enum(name, class)"},
    {"register_op", RegisterOpFunction, METH_VARARGS,
     "register_op(callable, name): what `op=callable` means; gives the callable back."},
    {"add_package_folder", AddPackageFolderFunction, METH_O,
     "Frames of files below it are not the kernel author's."},
    {"ndarray", WithKeywords(NdarrayFunction), METH_VARARGS | METH_KEYWORDS,
     "ndarray(shape, dtype, buffer=sbuf, name='', address=None)"},
    {"new_register", RegisterFunction, METH_O, "new_register(frozen)"},
    {"freeze", FreezeFunction, METH_VARARGS, "freeze(register, frozen)"},
    {"read_register", ReadRegisterFunction, METH_O, "The value of a register at this point."},
    {"mark_comparison", MarkComparisonFunction, METH_O,
     "bool(tensor) becomes whether all elements are true."},
    {"rank", RankFunction, METH_NOARGS, "The core's rank, 0 outside kernels."},
    {"cores", CoresFunction, METH_NOARGS, "On how many cores the kernel runs."},
    {"program_ndim", ProgramNdimFunction, METH_NOARGS, "1 when the kernel has a grid, else 0."},
    {"running", RunningFunction, METH_NOARGS, "Whether a kernel runs on this thread."},
    {"has_values", HasValuesFunction, METH_NOARGS, "Whether the kernel runs with values."},
    {"source", SourceFunction, METH_NOARGS,
     "The number of the running place in the kernel's text."},
    {"set_source", SetSourceFunction, METH_O,
     "set_source(number): instructions count as written there; 0: where they are."},
    {"begin_ordered", BeginOrderedFunction, METH_NOARGS, "Opens a no_reorder block."},
    {"end_ordered", EndOrderedFunction, METH_NOARGS, "Closes it."},
    {"ordered", OrderedFunction, METH_NOARGS, "Whether a no_reorder block is open."},
    {"raise_error", RaiseErrorFunction, METH_VARARGS, "raise_error(error_class, text)"},
    {"machine_constant", MachineConstant, METH_O,
     "A number of the machine file: 'generation', 'memory.partitions', 'bn_stats_max', …"},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "nki._core",
                          "The native part of nki: tensors, instructions, sessions.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyObject* MakeCoreModule() {
  Ref module = Ref::Steal(PyModule_Create(&definition));
  PyObject* m = module.get();
  const bool ok = m && InitErrors(m) && InitDTypes(m) && InitTensorTypes(m) && InitHostArray(m) &&
                  InitSessionType(m) && InitInstrTypes(m);
  return ok ? module.release() : nullptr;
}

}  // namespace wt::nki
