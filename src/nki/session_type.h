// nki._core.Session: what the Python driver of a run holds of a Session.
#pragma once

#include "nki/python.h"
// After Python.h.
#include <memory>

#include "nki/session.h"

namespace wt::nki {

bool InitSessionType(PyObject* module);
PyObject* NewSession(std::shared_ptr<Session> session);
// Null when the object is no Session.
Session* AsSession(PyObject* object);

}  // namespace wt::nki
