// VirtualRegister: a 32-bit register of the engines' sequencers, known to instructions as an
// operand, to views as an offset, to `while` as a condition.
#include "nki/errors.h"
#include "nki/tensor_type.h"

namespace wt::nki {

using chip::ErrorClass;

PyTypeObject register_type = BlankType();

namespace {

PyNumberMethods number;

void Dealloc(PyObject* self) {
  Release(AsRegister(self)->storage);
  Py_TYPE(self)->tp_free(self);
}

PyObject* Repr(PyObject* self) {
  const Storage& storage = *AsRegister(self)->storage;
  if (!storage.session || !storage.session->core().options().values) {
    return PyUnicode_FromString("<VirtualRegister>");
  }
  chip::AccessPattern pattern;
  if (!RegisterPattern(AsRegister(self), &pattern).ok()) return PyUnicode_FromString("<register>");
  const auto value = storage.session->core().ReadScalar(pattern);
  return value.ok() ? PyUnicode_FromFormat("<VirtualRegister %lld>", static_cast<long long>(*value))
                    : PyUnicode_FromString("<VirtualRegister, nothing written>");
}

int Bool(PyObject* self) {
  int64_t value = 0;
  return ReadRegister(self, &value) ? value != 0 : -1;
}

// What a compiled kernel cannot do with a register either.
PyObject* NoInteger(PyObject*) {
  return RaiseKernelError(ErrorClass::kArgument,
                          "a register has its value only when the kernel runs: it cannot become a "
                          "Python int, a bound of range or part of arithmetic; use nl.fori_loop, "
                          "nl.while_loop, scalar_offset=, or instructions on a [1, 1] tile");
}
PyObject* NoArithmetic(PyObject* self, PyObject*) { return NoInteger(self); }

PyObject* GetFrozen(PyObject* self, void*) {
  return PyBool_FromLong(AsRegister(self)->storage->frozen);
}
PyGetSetDef getters[] = {
    {"frozen", GetFrozen, nullptr,
     "The induction register of a loop: instructions cannot write it.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

Status RegisterPattern(RegisterObject* self, chip::AccessPattern* pattern) {
  if (!self->storage->tensor) {
    return chip::KernelError(ErrorClass::kOutsideKernel, "a register of a kernel that has ended");
  }
  *pattern = chip::AccessPattern{};
  pattern->tensor = self->storage->tensor;
  pattern->dtype = self->storage->dtype;
  pattern->num_dims = 1;
  pattern->dims[0] = {1, 1};
  return {};
}

bool ReadRegister(PyObject* self, int64_t* value) {
  Session* session = CurrentOrRaise("reading a register");
  if (!session) return false;
  if (!session->core().options().values) {
    RaiseKernelError(ErrorClass::kUnsupported,
                     "the value of a register decides what the kernel does next, and this run has "
                     "shapes and times only; simulate with values");
    return false;
  }
  chip::AccessPattern pattern;
  if (const Status status = RegisterPattern(AsRegister(self), &pattern); !status.ok()) {
    Raise(status);
    return false;
  }
  const auto read = session->core().ReadScalar(pattern);
  if (!read.ok()) {
    Raise(read.status());
    return false;
  }
  *value = *read;
  return true;
}

PyObject* NewRegister(Storage* storage) {
  PyObject* self = register_type.tp_alloc(&register_type, 0);
  if (!self) {
    Release(storage);
    return nullptr;
  }
  AsRegister(self)->storage = storage;
  return self;
}

bool InitRegister(PyObject* module) {
  register_type.tp_name = "nki.isa.VirtualRegister";
  register_type.tp_basicsize = sizeof(RegisterObject);
  register_type.tp_flags = Py_TPFLAGS_DEFAULT;
  register_type.tp_doc = "A 32-bit register; nisa.register_alloc makes them.";
  register_type.tp_dealloc = Dealloc;
  register_type.tp_repr = Repr;
  register_type.tp_getset = getters;
  number.nb_bool = Bool;
  number.nb_int = NoInteger;
  number.nb_index = NoInteger;
  number.nb_float = NoInteger;
  number.nb_add = number.nb_subtract = number.nb_multiply = number.nb_floor_divide =
      number.nb_remainder = number.nb_true_divide = NoArithmetic;
  register_type.tp_as_number = &number;
  return PyType_Ready(&register_type) == 0 &&
         PyModule_AddObjectRef(module, "VirtualRegister",
                               reinterpret_cast<PyObject*>(&register_type)) == 0;
}

}  // namespace wt::nki
