// nki.dtype: element types as Python objects. A dtype is a str ("bfloat16"), as in the nki package
// that kernels are written for, with an item size; it equals what NumPy, ml_dtypes and PyTorch call
// the same type.
#pragma once

#include "nki/python.h"
// After Python.h.
#include "base/dtype.h"

namespace wt::nki {

bool InitDTypes(PyObject* module);  // adds DType and DTYPES, a dict by name

PyObject* DTypeObject(DType dtype);  // borrowed: there is one object a type

// Any object that names an element type: one of ours, a string, np.float32, np.dtype("int8"),
// torch.bfloat16. False with an exception set, naming `what`.
bool ParseDTypeObject(PyObject* object, const char* what, DType* dtype);

}  // namespace wt::nki
