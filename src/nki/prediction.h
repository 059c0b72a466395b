// How long kernels that ran in Python would take on the chip: a Session that records, and the
// schedule of what it recorded. `windtunnel kernel profile` says more about one kernel.
#pragma once

#include "nki/python.h"
// After Python.h.
#include <span>
#include <string>

#include "nki/session.h"

namespace wt::nki {

// Of the one or two cores of a kernel, whose sessions record, under a tool chain's policy. Cores
// that meet finish together: the longer of two.
Result<double> PredictNs(std::span<Session* const> cores, const std::string& policy);

// predict_ns(sessions, policy="nki-0.6")
PyObject* PredictNsFunction(PyObject* module, PyObject* arguments, PyObject* keywords);

}  // namespace wt::nki
