#include "nki/prediction.h"

#include <algorithm>
#include <array>
#include <vector>

#include "chip/schedule.h"
#include "nki/errors.h"
#include "nki/session_type.h"

namespace wt::nki {

using chip::ErrorClass;

Result<double> PredictNs(std::span<Session* const> cores, const std::string& policy_name) {
  std::vector<const chip::Program*> programs;
  for (Session* core : cores) programs.push_back(core->recorded());
  if (programs.empty() || programs.size() > 2 ||
      std::find(programs.begin(), programs.end(), nullptr) != programs.end()) {
    return chip::KernelError(ErrorClass::kArgument,
                             "predict_ns: expected one session that records, or two");
  }
  WT_ASSIGN_OR_RETURN(const chip::Policy policy, chip::LoadPolicy(policy_name));
  const chip::Machine& machine = cores[0]->core().machine();
  if (programs.size() == 1) {
    WT_ASSIGN_OR_RETURN(const auto result, chip::Schedule(machine, policy, *programs[0]));
    return result.latency_ns;
  }
  WT_ASSIGN_OR_RETURN(const auto pair,
                      chip::SchedulePair(machine, policy, {programs[0], programs[1]}));
  return std::max(pair[0].latency_ns, pair[1].latency_ns);
}

PyObject* PredictNsFunction(PyObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"sessions", "policy", nullptr};
  PyObject* list = nullptr;
  const char* policy = "nki-0.6";
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|s:predict_ns", const_cast<char**>(names),
                                   &list, &policy)) {
    return nullptr;
  }
  const Ref tuple = Ref::Steal(PySequence_Tuple(list));
  if (!tuple) return nullptr;
  std::vector<Session*> cores;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i) {
    Session* session = AsSession(PyTuple_GET_ITEM(tuple.get(), i));
    if (!session) return RaiseKernelError(ErrorClass::kArgument, "predict_ns: no session");
    cores.push_back(session);
  }
  const auto ns = PredictNs(cores, policy);
  return ns.ok() ? PyFloat_FromDouble(*ns) : Raise(ns.status());
}

}  // namespace wt::nki
