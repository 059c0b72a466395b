// session.record(), predict(sessions, policy) and band(sessions, policy): how long a kernel that
// has run takes on the chip.
#include "chip/policy.h"
#include "chip/profile/profiler.h"
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

// What both functions take.
struct Recorded {
  std::vector<const chip::Program*> programs;
  const chip::Machine* machine = nullptr;
  chip::Policy policy;
};

bool ParseRecorded(PyObject* arguments, const char* format, Recorded* recorded) {
  PyObject* sessions = nullptr;
  const char* name = nullptr;
  if (!PyArg_ParseTuple(arguments, format, &sessions, &name) ||
      !RecordedPrograms(sessions, &recorded->programs)) {
    return false;
  }
  const Ref first = Ref::Steal(PySequence_GetItem(sessions, 0));
  recorded->machine = &SessionOf(first.get())->core().machine();
  auto policy = chip::LoadPolicy(name);
  if (!policy.ok()) return Raise(policy.status()) != nullptr;
  recorded->policy = *std::move(policy);
  return true;
}

}  // namespace

PyObject* PredictFunction(PyObject*, PyObject* arguments) {
  Recorded recorded;
  if (!ParseRecorded(arguments, "Os:predict", &recorded)) return nullptr;
  const auto& [programs, machine, policy] = recorded;
  if (programs.size() == 1) {
    const auto result = chip::Schedule(*machine, policy, *programs[0]);
    return result.ok() ? Times({&*result, 1}) : Raise(result.status());
  }
  const auto pair = chip::SchedulePair(*machine, policy, {programs[0], programs[1]});
  return pair.ok() ? Times(*pair) : Raise(pair.status());
}

PyObject* BandFunction(PyObject*, PyObject* arguments) {
  Recorded recorded;
  if (!ParseRecorded(arguments, "Os:band", &recorded)) return nullptr;
  const auto profiles =
      chip::MakeProfiles(*recorded.machine, recorded.policy, recorded.programs, {});
  if (!profiles.ok()) return Raise(profiles.status());
  double low = 0, high = 0;
  for (const chip::Profile& profile : *profiles) {
    low = std::max(low, profile.band_low_ns);
    high = std::max(high, profile.band_high_ns);
  }
  return Py_BuildValue("dd", low, high);
}

}  // namespace wt::nki
