// nki._core.Session: what the Python driver of a run holds of a Session.
#pragma once

#include "nki/python.h"
// After Python.h.
#include <memory>

#include "nki/session.h"

namespace wt::nki {

bool InitSessionType(PyObject* module);
PyObject* NewSession(std::shared_ptr<Session> session);

// The arguments (shape, dtype, data, name="") as a tensor in shared HBM; null with an exception set.
PyObject* InputTensor(Session& session, PyObject* arguments, PyObject* keywords);
// (HostArray, the number of elements that nothing wrote); null with an exception set.
PyObject* FetchTensor(PyObject* tensor);

}  // namespace wt::nki
