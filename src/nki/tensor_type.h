// NkiTensor, the Python object around a View, and VirtualRegister.
#pragma once

#include "nki/python.h"
// After Python.h.
#include "nki/session.h"
#include "nki/view.h"

namespace wt::nki {

struct TensorObject {
  PyObject_HEAD PyObject* index;  // the register or tensor of view.indirect; null without
  bool comparison;  // bool(tensor) asks whether all elements are true (nl.equal and its like)
  View view;
};

struct RegisterObject {
  PyObject_HEAD Storage* storage;
};

extern PyTypeObject tensor_type;
extern PyTypeObject register_type;

inline bool IsTensor(PyObject* object) { return Py_TYPE(object) == &tensor_type; }
inline bool IsRegister(PyObject* object) { return Py_TYPE(object) == &register_type; }
inline TensorObject* AsTensor(PyObject* object) { return reinterpret_cast<TensorObject*>(object); }
inline RegisterObject* AsRegister(PyObject* object) {
  return reinterpret_cast<RegisterObject*>(object);
}

bool InitTensorTypes(PyObject* module);

// A new object around a new storage, whose reference it takes over.
PyObject* NewTensor(Storage* storage, std::span<const int64_t> shape);
PyObject* NewRegister(Storage* storage);
// Another view of the same storage; `index` (borrowed) may be null.
PyObject* NewView(const View& view, PyObject* index);

// A register's place as an operand.
Status RegisterPattern(RegisterObject* self, chip::AccessPattern* pattern);

// The value of a register where the kernel stands; false with an exception set.
bool ReadRegister(PyObject* self, int64_t* value);
// Whether all elements are true: 1 or 0; 1 when values are not simulated, -1 with an exception.
int AllTrue(TensorObject* self);

// For messages: "sbuf tensor a (128, 512) float32", "a register", or a Python object and its type.
std::string DescribeOperand(PyObject* object);

// An integer, or anything with __index__; false with an exception: "WHAT: expected an integer, …".
bool ParseInt(PyObject* object, const char* what, int64_t* value);
// A tuple or list of integers, or one integer.
bool ParseInts(PyObject* object, const char* what, std::vector<int64_t>* values);

extern PyMethodDef tensor_methods[];                       // tensor_methods.cc
PyObject* TensorSubscript(PyObject* self, PyObject* key);  // tensor_index.cc

}  // namespace wt::nki
