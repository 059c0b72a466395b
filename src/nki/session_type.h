// nki._core.Session: what the Python driver of a run holds of a Session.
#pragma once

#include "nki/python.h"
// After Python.h.
#include <memory>

#include "nki/session.h"

namespace wt::nki {

bool InitSessionType(PyObject* module);
PyObject* NewSession(std::shared_ptr<Session> session);

// "trn2", "gen3", "inf2", …: the machine file's name.
Result<std::string> MachineNameOfPlatform(const std::string& platform);

}  // namespace wt::nki
