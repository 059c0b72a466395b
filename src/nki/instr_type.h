// The callables of nki.isa, one a row of the instruction table, and NkiInstruction, what they give.
#pragma once

#include "nki/python.h"
// After Python.h.

namespace wt::nki {

// Adds INSTRUCTIONS, a dict of callables by name, and NkiInstruction; false with an exception set.
bool InitInstrTypes(PyObject* module);

}  // namespace wt::nki
