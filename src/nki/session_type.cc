#include "nki/session_type.h"

#include "chip/convert.h"
#include "nki/dtype_type.h"
#include "nki/errors.h"
#include "nki/host_array_type.h"
#include "nki/platform.h"
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
  static const char* names[] = {"platform",     "values",
                                "precise_fp",   "check_uninitialized",
                                "check_ranges", "max_instructions",
                                "seed",         "rank",
                                "cores",        "peer",
                                "grid",         nullptr};
  const char* platform = nullptr;
  int values = 1, precise = 1, check = 1, ranges = 1, rank = 0, cores = 1, grid = 0;
  unsigned long long limit = 0, seed = 0;
  PyObject* peer = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|zppppKKiiOp:Session",
                                   const_cast<char**>(names), &platform, &values, &precise, &check,
                                   &ranges, &limit, &seed, &rank, &cores, &peer, &grid)) {
    return nullptr;
  }
  if (cores < 1 || cores > 2 || rank < 0 || rank >= cores) {
    return RaiseKernelError(ErrorClass::kArgument,
                            "a kernel on {} cores: expected kernel(…) for one or kernel[2](…) for "
                            "two",
                            cores);
  }
  const auto machine =
      MachineOfPlatform(platform ? std::string(platform) : PlatformOfEnvironment());
  if (!machine.ok()) return Raise(machine.status());
  chip::CoreOptions options;
  options.values = values;
  options.precise_fp = precise;
  options.check_uninitialized = check;
  options.check_ranges = ranges;
  options.max_instructions = limit;
  options.seed = seed;
  auto session = std::make_shared<Session>(*machine, options, rank, HbmOf(peer, cores, **machine));
  session->set_has_grid(grid != 0);
  return NewSession(std::move(session));
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

PyObject* Record(PyObject* self, PyObject*) {
  Of(self).Record();
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

// Low-precision floats as float32.
std::vector<float> Widen(DType dtype, const void* bytes, int64_t count) {
  std::vector<float> wide(static_cast<size_t>(count));
  chip::LoadFloats(dtype, static_cast<const std::byte*>(bytes), 1, count, wide.data());
  return wide;
}

// input(shape, dtype, data, name): an HBM tensor with values from the host.
PyObject* InputTo(Session& session, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"shape", "dtype", "data", "name", nullptr};
  PyObject *shape = nullptr, *dtype_object = nullptr, *data = nullptr;
  const char* name = "";
  std::vector<int64_t> sizes;
  DType dtype;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO|s:input", const_cast<char**>(names),
                                   &shape, &dtype_object, &data, &name) ||
      !ParseInts(shape, "input: shape", &sizes) ||
      !ParseDTypeObject(dtype_object, "input: dtype", &dtype)) {
    return nullptr;
  }
  chip::TensorSpec spec;
  spec.memory = chip::Memory::kHbm;
  spec.shared = true;
  spec.name = name;
  int64_t bytes = 0;
  Status status = TensorBytes(sizes, dtype, &bytes);
  spec.dtype = StoredType(session.wide(), dtype);
  if (status.ok()) status = TensorBytes(sizes, spec.dtype, &spec.partition_bytes);
  if (!status.ok()) return Raise(status);
  Bytes taken;
  if (data != Py_None && !taken.Take(data)) return nullptr;
  if (data != Py_None && taken.size() != bytes) {
    return RaiseKernelError(ErrorClass::kShape, "{}: {} bytes given for a tensor of {}", name,
                            taken.size(), bytes);
  }
  std::vector<float> wide;
  if (taken.data() && spec.dtype != dtype)
    wide = Widen(dtype, taken.data(), bytes / DTypeBytes(dtype));
  auto storage = session.Declare(spec, dtype, wide.empty() ? taken.data() : wide.data());
  return storage.ok() ? NewTensor(*storage, sizes) : Raise(storage.status());
}

PyObject* Input(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return InputTo(Of(self), arguments, keywords);
}

PyObject* InputHere(PyObject*, PyObject* arguments, PyObject* keywords) {
  Session* session = CurrentOrRaise("a constant");
  return session ? InputTo(*session, arguments, keywords) : nullptr;
}

// host_array(shape, dtype, data)
PyObject* MakeHostArray(PyObject*, PyObject* arguments) {
  PyObject *shape = nullptr, *dtype = nullptr, *data = nullptr;
  HostArray array;
  Bytes taken;
  int64_t bytes = 0;
  if (!PyArg_ParseTuple(arguments, "OOO:host_array", &shape, &dtype, &data) ||
      !ParseInts(shape, "host_array: shape", &array.shape) ||
      !ParseDTypeObject(dtype, "host_array: dtype", &array.dtype) || !taken.Take(data)) {
    return nullptr;
  }
  if (const Status status = TensorBytes(array.shape, array.dtype, &bytes); !status.ok()) {
    return Raise(status);
  }
  if (bytes != taken.size()) {
    return RaiseKernelError(ErrorClass::kShape, "host_array: {} bytes for an array of {}",
                            taken.size(), bytes);
  }
  const auto* from = static_cast<const std::byte*>(taken.data());
  array.bytes.assign(from, from + bytes);
  return NewHostArray(std::move(array));
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

PyMethodDef functions[] = {
    {"predict", PredictFunction, METH_VARARGS,
     "predict(sessions, policy): nanoseconds on each core, of kernels that were recorded."},
    {"band", BandFunction, METH_VARARGS,
     "band(sessions, policy): the shortest and the longest of those times when a rule of the "
     "policy "
     "is another, in ns."},
    {"input", WithKeywords(InputHere), METH_VARARGS | METH_KEYWORDS,
     "input(shape, dtype, data, name): an HBM tensor of the running kernel."},
    {"fetch", FetchMethod, METH_O, "fetch(tensor): (HostArray, elements that nothing wrote)."},
    {"host_array", MakeHostArray, METH_VARARGS, "host_array(shape, dtype, data)"},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef methods[] = {
    {"__enter__", Enter, METH_NOARGS, nullptr},
    {"__exit__", Exit, METH_VARARGS, nullptr},
    {"record", Record, METH_NOARGS, "Keeps what predict needs; before the first tensor."},
    {"close", Close, METH_NOARGS, "Ends the run: tensors are gone."},
    {"cancel", Cancel, METH_NOARGS, "Every further call fails."},
    {"input", WithKeywords(Input), METH_VARARGS | METH_KEYWORDS,
     "input(shape, dtype, data, name): an HBM tensor."},
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

Session* SessionOf(PyObject* object) { return Py_TYPE(object) == &type ? &Of(object) : nullptr; }

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
  return PyType_Ready(&type) == 0 && PyModule_AddFunctions(module, functions) == 0 &&
         PyModule_AddObjectRef(module, "Session", reinterpret_cast<PyObject*>(&type)) == 0;
}

}  // namespace wt::nki
