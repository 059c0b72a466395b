// An array on the host, as kernels take and give them: shape, element type, bytes. Offers its bytes
// to NumPy through the buffer protocol, and needs no NumPy itself.
#pragma once

#include "nki/python.h"
// After Python.h.
#include <cstddef>
#include <vector>

#include "base/dtype.h"

namespace wt::nki {

struct HostArray {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;  // dense, the last dimension innermost; empty: shape only

  int64_t elements() const {
    int64_t product = 1;
    for (int64_t size : shape) product *= size;
    return product;
  }
};

bool InitHostArray(PyObject* module);  // adds HostArray
PyObject* NewHostArray(HostArray array);
// The array of a Python object of that type; null for others, without an exception.
HostArray* AsHostArray(PyObject* object);

}  // namespace wt::nki
