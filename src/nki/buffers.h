// nl.sbuf, nl.psum, nl.private_hbm, nl.shared_hbm: members of the Python enum MemoryRegion and the
// memories they mean.
#pragma once

#include "nki/python.h"
// After Python.h.
#include "chip/tensor.h"

namespace wt::nki {

// Takes the enum class; false with an exception set.
bool RegisterBuffers(PyObject* memory_region);
PyObject* BufferObject(chip::Memory memory, bool shared);  // a new reference
bool ParseBuffer(PyObject* object, chip::Memory* memory, bool* shared);

}  // namespace wt::nki
