// nki.HostArray: offers a HostArray's bytes to NumPy through the buffer protocol, and needs no
// NumPy itself.
#pragma once

#include "nki/python.h"
// After Python.h.
#include "nki/host_array.h"

namespace wt::nki {

bool InitHostArray(PyObject* module);  // adds HostArray
PyObject* NewHostArray(HostArray array);
// The array of a Python object of that type; null for others, without an exception.
HostArray* AsHostArray(PyObject* object);

}  // namespace wt::nki
