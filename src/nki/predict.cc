// session.record() and predict(sessions, policy): how long a kernel that has run takes on the chip.
#include "chip/policy.h"
#include "chip/schedule.h"
#include "nki/errors.h"
#include "nki/session_type.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;

PyObject* Times(std::span<const chip::ScheduleResult> results) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(results.size()));
  for (size_t core = 0; list && core < results.size(); ++core) {
    PyObject* ns = PyFloat_FromDouble(results[core].latency_ns);
    if (!ns) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(core), ns);
  }
  return list;
}

bool RecordedPrograms(PyObject* sessions, std::vector<const chip::Program*>* programs) {
  const Ref items = Ref::Steal(PySequence_Tuple(sessions));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    const Session* session = SessionOf(PyTuple_GET_ITEM(items.get(), i));
    if (!session || !session->recorder()) {
      RaiseKernelError(ErrorClass::kArgument, "predict: expected sessions that record");
      return false;
    }
    programs->push_back(&session->recorder()->program());
  }
  if (programs->size() == 1 || programs->size() == 2) return true;
  RaiseKernelError(ErrorClass::kArgument, "predict: {} sessions; expected one a core, 1 or 2",
                   programs->size());
  return false;
}

}  // namespace

PyObject* PredictFunction(PyObject*, PyObject* arguments) {
  PyObject* sessions = nullptr;
  const char* name = nullptr;
  std::vector<const chip::Program*> programs;
  if (!PyArg_ParseTuple(arguments, "Os:predict", &sessions, &name) ||
      !RecordedPrograms(sessions, &programs)) {
    return nullptr;
  }
  const Ref first = Ref::Steal(PySequence_GetItem(sessions, 0));
  const chip::Machine& machine = SessionOf(first.get())->core().machine();
  const auto policy = chip::LoadPolicy(name);
  if (!policy.ok()) return Raise(policy.status());
  if (programs.size() == 1) {
    const auto result = chip::Schedule(machine, *policy, *programs[0]);
    return result.ok() ? Times({&*result, 1}) : Raise(result.status());
  }
  const auto pair = chip::SchedulePair(machine, *policy, {programs[0], programs[1]});
  return pair.ok() ? Times(*pair) : Raise(pair.status());
}

}  // namespace wt::nki
