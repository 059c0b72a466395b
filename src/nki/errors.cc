#include "nki/errors.h"

#include <array>
#include <cctype>
#include <vector>

namespace wt::nki {
namespace {

using chip::ErrorClass;

PyObject* base_class = nullptr;
std::vector<PyObject*> classes;  // by ErrorClass

// What else an error is to Python, so that `except IndexError` and the like work.
PyObject* SecondBase(ErrorClass id) {
  switch (id) {
    case ErrorClass::kArgument:
      return PyExc_TypeError;
    case ErrorClass::kOutOfBounds:
      return PyExc_IndexError;
    case ErrorClass::kCapacity:
      return PyExc_MemoryError;
    case ErrorClass::kUnsupported:
    case ErrorClass::kGeneration:
      return PyExc_NotImplementedError;
    case ErrorClass::kOutsideKernel:
    case ErrorClass::kLimit:
    case ErrorClass::kDeadlock:
    case ErrorClass::kInternal:
      return PyExc_RuntimeError;
    default:
      return nullptr;
  }
}

// "out-of-bounds": "OutOfBoundsError".
std::string ClassName(std::string_view name) {
  std::string text;
  bool upper = true;
  for (const char c : name) {
    if (c == '-') {
      upper = true;
      continue;
    }
    text += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return text + "Error";
}

PyObject* MakeClass(const chip::ErrorClassRow& row) {
  PyObject* second = SecondBase(row.id);
  const Ref bases =
      Ref::Steal(second ? PyTuple_Pack(2, base_class, second) : PyTuple_Pack(1, base_class));
  const Ref members =
      Ref::Steal(Py_BuildValue("{s:s,s:s}", "error_class", row.name, "__module__", "nki"));
  if (!bases || !members) return nullptr;
  const std::string name = "nki." + ClassName(row.name);
  const std::string doc = fmt::format("{} {}", row.meaning, row.advice);
  return PyErr_NewExceptionWithDoc(name.c_str(), doc.c_str(), bases.get(), members.get());
}

}  // namespace

bool InitErrors(PyObject* module) {
  const Ref bases = Ref::Steal(PyTuple_Pack(2, PyExc_ValueError, PyExc_AssertionError));
  const Ref members = Ref::Steal(Py_BuildValue("{s:s}", "error_class", "internal"));
  if (!bases || !members) return false;
  base_class = PyErr_NewExceptionWithDoc(
      "nki.NkiError", "A kernel misuses the machine; `error_class` names how (docs/ERRORS.md).",
      bases.get(), members.get());
  if (!base_class || PyModule_AddObjectRef(module, "NkiError", base_class) < 0) return false;
  const Ref list = Ref::Steal(PyTuple_New(static_cast<Py_ssize_t>(chip::ErrorClasses().size())));
  if (!list) return false;
  for (const auto& row : chip::ErrorClasses()) {
    PyObject* type = MakeClass(row);
    if (!type) return false;
    PyTuple_SET_ITEM(list.get(), static_cast<Py_ssize_t>(classes.size()), Py_NewRef(type));
    classes.push_back(type);
  }
  return PyModule_AddObjectRef(module, "ERROR_CLASSES", list.get()) == 0;
}

PyObject* Raise(const Status& status) {
  PyObject* type =
      classes.empty() ? PyExc_ValueError : classes[static_cast<size_t>(chip::ClassOf(status))];
  const Ref text = Ref::Steal(MakeString(status.message()));
  if (text) PyErr_SetObject(type, text.get());
  return nullptr;
}

std::string ReprOf(PyObject* object) {
  constexpr size_t kMost = 80;
  const Ref repr = Ref::Steal(PyObject_Repr(object));
  std::string text(repr ? Utf8(repr.get()) : std::string_view());
  if (PyErr_Occurred()) PyErr_Clear();
  if (text.empty()) return fmt::format("<{}>", TypeName(object));
  if (text.size() <= kMost) return text;
  size_t cut = kMost;
  while (cut > 0 && (text[cut] & 0xc0) == 0x80) --cut;  // not within a character
  return text.substr(0, cut) + "…";
}

namespace {

std::string TracebackText(PyObject* type, PyObject* value, PyObject* trace) {
  const Ref module = Ref::Steal(PyImport_ImportModule("traceback"));
  const Ref lines = Ref::Steal(
      module ? PyObject_CallMethod(module.get(), "format_exception", "OOO", type, value, trace)
             : nullptr);
  const Ref empty = Ref::Steal(PyUnicode_FromString(""));
  const Ref text = Ref::Steal(lines && empty ? PyUnicode_Join(empty.get(), lines.get()) : nullptr);
  std::string result(text ? Utf8(text.get()) : std::string_view());
  PyErr_Clear();
  while (!result.empty() && result.back() == '\n') result.pop_back();
  return result;
}

}  // namespace

PythonFailure TakeException() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const Ref type_ref = Ref::Steal(type);
  const Ref value_ref = value ? Ref::Steal(value) : Ref::Borrow(Py_None);
  const Ref trace_ref = trace ? Ref::Steal(trace) : Ref::Borrow(Py_None);
  PythonFailure failure;
  if (!type) return failure;
  failure.traceback = TracebackText(type, value_ref.get(), trace_ref.get());
  const Ref text = Ref::Steal(PyObject_Str(value_ref.get()));
  failure.text = text ? Utf8(text.get()) : std::string_view();
  PyErr_Clear();
  failure.kernel_error = base_class && PyErr_GivenExceptionMatches(type, base_class) != 0;
  if (!failure.kernel_error) {
    const auto* name = reinterpret_cast<PyTypeObject*>(type)->tp_name;
    failure.text = fmt::format("{}: {}", name, failure.text);
  }
  return failure;
}

}  // namespace wt::nki
