// nki._core.Session: what the Python driver of a run holds of a Session.
#pragma once

#include "nki/python.h"
// After Python.h.
#include <memory>

#include "nki/session.h"

namespace wt::nki {

bool InitSessionType(PyObject* module);
PyObject* NewSession(std::shared_ptr<Session> session);
Session* SessionOf(PyObject* object);  // null for another type

// predict(sessions, policy), predict.cc
PyObject* PredictFunction(PyObject* module, PyObject* arguments);
PyObject* BandFunction(PyObject* module, PyObject* arguments);

}  // namespace wt::nki
