#include "nki/session_type.h"

#include "nki/dtype_type.h"
#include "nki/errors.h"
#include "nki/host_array.h"
#include "nki/names.h"
#include "nki/tensor_type.h"
#include "nki/tensor_values.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;

struct SessionObject {
  PyObject_HEAD std::shared_ptr<Session>* session;
};

PyTypeObject type = BlankType();

Session& Of(PyObject* self) { return **reinterpret_cast<SessionObject*>(self)->session; }

void Dealloc(PyObject* self) {
  delete reinterpret_cast<SessionObject*>(self)->session;
  PyObject_Free(self);
}

std::shared_ptr<chip::Hbm> HbmOf(PyObject* peer, int cores, const chip::Machine& machine) {
  if (peer && Py_TYPE(peer) == &type) return Of(peer).shared_hbm();
  return std::make_shared<chip::Hbm>(cores, machine.hbm_bytes);
}

PyObject* New(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {
      "platform", "values", "precise_fp", "check_uninitialized", "max_instructions", "seed", "rank",
      "cores",    "peer",   nullptr};
  const char* platform = "trn2";
  int values = 1, precise = 1, check = 1, rank = 0, cores = 1;
  unsigned long long limit = 0, seed = 0;
  PyObject* peer = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|spppKKiiO:Session",
                                   const_cast<char**>(names), &platform, &values, &precise, &check,
                                   &limit, &seed, &rank, &cores, &peer)) {
    return nullptr;
  }
  if (cores < 1 || cores > 2 || rank < 0 || rank >= cores) {
    return RaiseKernelError(ErrorClass::kArgument,
                            "a kernel on {} cores: expected kernel(…) for one or kernel[2](…) for "
                            "two",
                            cores);
  }
  const auto name = MachineNameOfPlatform(platform);
  if (!name.ok()) return Raise(name.status());
  const auto machine = chip::Machine::Load(*name);
  if (!machine.ok()) return Raise(machine.status());
  chip::CoreOptions options;
  options.values = values;
  options.precise_fp = precise;
  options.check_uninitialized = check;
  options.max_instructions = limit;
  options.seed = seed;
  return NewSession(
      std::make_shared<Session>(*machine, options, rank, HbmOf(peer, cores, **machine)));
}

PyObject* Enter(PyObject* self, PyObject*) {
  const Status status = Of(self).Enter();
  return status.ok() ? Py_NewRef(self) : Raise(status);
}

PyObject* Exit(PyObject* self, PyObject*) {
  Of(self).Leave();
  Py_RETURN_NONE;
}

PyObject* Close(PyObject* self, PyObject*) {
  Of(self).Close();
  Py_RETURN_NONE;
}

PyObject* Cancel(PyObject* self, PyObject*) {
  Of(self).Cancel();
  Py_RETURN_NONE;
}

// The bytes of an argument, borrowed for a while.
class Bytes {
 public:
  ~Bytes() {
    if (held_) PyBuffer_Release(&view_);
  }
  bool Take(PyObject* object) {
    held_ = PyObject_GetBuffer(object, &view_, PyBUF_SIMPLE) == 0;
    return held_;
  }
  const void* data() const { return held_ ? view_.buf : nullptr; }
  int64_t size() const { return held_ ? view_.len : 0; }

 private:
  Py_buffer view_{};
  bool held_ = false;
};

// input(shape, dtype, data, name): an HBM tensor with values from the host.
PyObject* Input(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"shape", "dtype", "data", "name", nullptr};
  PyObject *shape = nullptr, *dtype = nullptr, *data = nullptr;
  const char* name = "";
  std::vector<int64_t> sizes;
  chip::TensorSpec spec;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO|s:input", const_cast<char**>(names),
                                   &shape, &dtype, &data, &name) ||
      !ParseInts(shape, "input: shape", &sizes) ||
      !ParseDTypeObject(dtype, "input: dtype", &spec.dtype)) {
    return nullptr;
  }
  int64_t bytes = 0;
  if (const Status status = TensorBytes(sizes, spec.dtype, &bytes); !status.ok()) {
    return Raise(status.WithContext(name));
  }
  spec.memory = chip::Memory::kHbm;
  spec.shared = true;
  spec.partition_bytes = bytes;
  spec.name = name;
  Bytes taken;
  if (data != Py_None && !taken.Take(data)) return nullptr;
  if (data != Py_None && taken.size() != bytes) {
    return RaiseKernelError(ErrorClass::kShape, "{}: {} bytes given for a tensor of {}", name,
                            taken.size(), bytes);
  }
  auto storage = Of(self).Declare(spec, taken.data());
  return storage.ok() ? NewTensor(*storage, sizes) : Raise(storage.status());
}

// fetch(tensor): (HostArray, elements that nothing wrote)
PyObject* FetchMethod(PyObject*, PyObject* tensor) {
  if (!IsTensor(tensor)) {
    return RaiseKernelError(ErrorClass::kArgument, "fetch: {} is no tensor", ReprOf(tensor));
  }
  auto fetched = Fetch(AsTensor(tensor)->view);
  if (!fetched.ok()) return Raise(fetched.status());
  const Ref array = Ref::Steal(NewHostArray(std::move(fetched->array)));
  if (!array) return nullptr;
  return Py_BuildValue("OL", array.get(), static_cast<long long>(fetched->unwritten));
}

// was_written(tensor): whether an instruction had it as a destination.
PyObject* WasWritten(PyObject*, PyObject* tensor) {
  return PyBool_FromLong(IsTensor(tensor) && AsTensor(tensor)->view.storage->written);
}

bool StringOf(PyObject* object, std::string* text) {
  if (!PyUnicode_Check(object)) {
    RaiseKernelError(
        ErrorClass::kArgument,
        "with_schedule: {} is no name; expected pairs (consumer, producers) of names of "
        "instructions",
        ReprOf(object));
    return false;
  }
  *text = Utf8(object);
  return !PyErr_Occurred();
}

// set_schedule({consumer: [producer, …]})
PyObject* SetSchedule(PyObject* self, PyObject* edges) {
  if (!PyDict_Check(edges)) return RaiseKernelError(ErrorClass::kArgument, "edges are no dict");
  std::map<std::string, std::vector<std::string>> schedule;
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(edges, &position, &key, &value)) {
    std::string consumer;
    if (!StringOf(key, &consumer)) return nullptr;
    const Ref producers = Ref::Steal(PySequence_Tuple(value));
    if (!producers) return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(producers.get()); ++i) {
      if (!StringOf(PyTuple_GET_ITEM(producers.get(), i), &schedule[consumer].emplace_back())) {
        return nullptr;
      }
    }
  }
  Of(self).SetSchedule(std::move(schedule));
  Py_RETURN_NONE;
}

PyObject* CheckSchedule(PyObject* self, PyObject*) {
  const Status status = Of(self).CheckScheduleUsed();
  if (!status.ok()) return Raise(status);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"__enter__", Enter, METH_NOARGS, nullptr},
    {"__exit__", Exit, METH_VARARGS, nullptr},
    {"close", Close, METH_NOARGS, "Ends the run: tensors are gone."},
    {"cancel", Cancel, METH_NOARGS, "Every further call fails."},
    {"input",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(
         static_cast<PyObject* (*)(PyObject*, PyObject*, PyObject*)>(Input))),
     METH_VARARGS | METH_KEYWORDS, "input(shape, dtype, data, name): an HBM tensor."},
    {"fetch", FetchMethod, METH_O, "fetch(tensor): (HostArray, elements that nothing wrote)."},
    {"was_written", WasWritten, METH_O, "Whether an instruction wrote to the tensor."},
    {"set_schedule", SetSchedule, METH_O, "set_schedule({consumer: [producers]})"},
    {"check_schedule", CheckSchedule, METH_NOARGS, "Raises when a named consumer never came."},
    {nullptr, nullptr, 0, nullptr}};

PyObject* GetCount(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(Of(self).core().num_instructions());
}
PyObject* GetRank(PyObject* self, void*) { return PyLong_FromLong(Of(self).core().rank()); }
PyObject* GetCores(PyObject* self, void*) { return PyLong_FromLong(Of(self).cores()); }
PyObject* GetPlatform(PyObject* self, void*) { return MakeString(Of(self).core().machine().name); }
PyObject* GetValues(PyObject* self, void*) {
  return PyBool_FromLong(Of(self).core().options().values);
}
PyObject* GetCancelled(PyObject* self, void*) { return PyBool_FromLong(Of(self).cancelled()); }

PyGetSetDef getters[] = {{"num_instructions", GetCount, nullptr, "Issued so far.", nullptr},
                         {"rank", GetRank, nullptr, "Of the core, 0 or 1.", nullptr},
                         {"cores", GetCores, nullptr, "On how many the kernel runs.", nullptr},
                         {"platform", GetPlatform, nullptr, "Name of the machine file.", nullptr},
                         {"values", GetValues, nullptr, "False: shapes and time only.", nullptr},
                         {"cancelled", GetCancelled, nullptr, "The other core failed.", nullptr},
                         {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

Result<std::string> MachineNameOfPlatform(const std::string& platform) {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"trn1", "trn1"}, {"inf2", "trn1"}, {"gen2", "trn1"}, {"trn2", "trn2"},
      {"gen3", "trn2"}, {"trn3", "trn3"}, {"gen4", "trn3"}};
  for (const auto& [name, file] : kNames) {
    if (platform == name) return std::string(file);
  }
  return chip::KernelError(
      ErrorClass::kArgument,
      "platform {}: not known; expected trn1 (gen2, inf2), trn2 (gen3) or trn3 "
      "(gen4) in NEURON_PLATFORM_TARGET_OVERRIDE",
      platform);
}

PyObject* NewSession(std::shared_ptr<Session> session) {
  auto* self = PyObject_New(SessionObject, &type);
  if (!self) return nullptr;
  self->session = new std::shared_ptr<Session>(std::move(session));
  return reinterpret_cast<PyObject*>(self);
}

bool InitSessionType(PyObject* module) {
  type.tp_name = "nki._core.Session";
  type.tp_basicsize = sizeof(SessionObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_doc = "A kernel under simulation on one core.";
  type.tp_dealloc = Dealloc;
  type.tp_methods = methods;
  type.tp_getset = getters;
  type.tp_new = New;
  return PyType_Ready(&type) == 0 &&
         PyModule_AddObjectRef(module, "Session", reinterpret_cast<PyObject*>(&type)) == 0;
}

}  // namespace wt::nki
