// The entry point of the extension nki/_core.*.so.
#include "nki/module.h"

PyMODINIT_FUNC PyInit__core() { return wt::nki::MakeCoreModule(); }
