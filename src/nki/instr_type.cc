#include "nki/instr_type.h"

#include <array>
#include <new>

#include "nki/args.h"
#include "nki/errors.h"
#include "nki/names.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;

// nki.isa.NAME
struct CallableObject {
  PyObject_HEAD vectorcallfunc call;
  const chip::InstrDef* def;
  size_t num_params;
  std::array<PyObject*, chip::kMaxParams> names;  // interned
  std::array<chip::Arg, chip::kMaxParams> defaults;
};

// What an instruction gives: a handle for scheduling edges.
struct HandleObject {
  PyObject_HEAD uint64_t number;
  const void* session;  // compared, never read
  const chip::InstrDef* def;
};

PyTypeObject callable_type = BlankType();
PyTypeObject handle_type = BlankType();

using Slots = std::array<PyObject*, chip::kMaxParams>;

PyObject* NewHandle(Session* session, const chip::Instr& instr) {
  auto* self = PyObject_New(HandleObject, &handle_type);
  if (!self) return nullptr;
  self->number = instr.number;
  self->session = session;
  self->def = instr.def;
  return reinterpret_cast<PyObject*>(self);
}

std::vector<std::string_view> ParamNames(const chip::InstrDef& def) {
  std::vector<std::string_view> names;
  for (const chip::Param& param : def.params) names.push_back(param.name);
  return names;
}

bool UnknownKeyword(const chip::InstrDef& def, PyObject* keyword) {
  const std::string name(Utf8(keyword));
  PyErr_Clear();
  RaiseKernelError(ErrorClass::kArgument, "{}: no parameter is called {}; {}", def.name, name,
                   Suggest(name, ParamNames(def)));
  return false;
}

// The parameter of a keyword, looked for from `*next` on: callers mostly keep the order.
bool FindParam(const CallableObject& self, PyObject* keyword, size_t* next, size_t* found) {
  for (size_t i = 0; i < self.num_params; ++i) {
    const size_t at = *next + i < self.num_params ? *next + i : *next + i - self.num_params;
    if (self.names[at] == keyword) {
      *found = at;
      *next = at + 1;
      return true;
    }
  }
  for (size_t at = 0; at < self.num_params; ++at) {
    if (PyUnicode_Check(keyword) && PyUnicode_Compare(self.names[at], keyword) == 0) {
      *found = at;
      return true;
    }
  }
  return UnknownKeyword(*self.def, keyword);
}

bool BindArguments(const CallableObject& self, PyObject* const* args, size_t num_positional,
                   PyObject* keywords, Slots* slots) {
  if (num_positional > self.num_params) {
    RaiseKernelError(ErrorClass::kArgument,
                     "{}: {} arguments by position; it has {} parameters: {}", self.def->name,
                     num_positional, self.num_params, fmt::join(ParamNames(*self.def), ", "));
    return false;
  }
  for (size_t i = 0; i < num_positional; ++i) (*slots)[i] = args[i];
  const Py_ssize_t num_keywords = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  size_t next = num_positional, at = 0;
  for (Py_ssize_t i = 0; i < num_keywords; ++i) {
    if (!FindParam(self, PyTuple_GET_ITEM(keywords, i), &next, &at)) return false;
    if ((*slots)[at]) {
      RaiseKernelError(ErrorClass::kArgument, "{}: {} is given twice", self.def->name,
                       self.def->params[at].name);
      return false;
    }
    (*slots)[at] = args[num_positional + static_cast<size_t>(i)];
  }
  return true;
}

bool MissingArgument(const chip::InstrDef& def, size_t param) {
  RaiseKernelError(ErrorClass::kArgument, "{}: {} is missing; parameters: {}", def.name,
                   def.params[param].name, fmt::join(ParamNames(def), ", "));
  return false;
}

bool FillInstr(const CallableObject& self, const Slots& slots, chip::Instr* instr,
               ListItems* lists) {
  instr->def = self.def;
  instr->engine = chip::Engine::kUnknown;
  for (size_t i = 0; i < self.num_params; ++i) {
    if (slots[i]) {
      if (!ReadArg(*self.def, i, slots[i], instr, lists)) return false;
    } else if (!self.def->params[i].default_value) {
      return MissingArgument(*self.def, i);
    } else {
      instr->args[i] = self.defaults[i];
    }
  }
  return true;
}

// Instructions at which a core may wait for the other one.
bool MayWait(const Session& session, const chip::InstrDef& def) {
  return session.cores() > 1 &&
         (std::string_view(def.name) == "core_barrier" || std::string_view(def.name) == "sendrecv");
}

Status Issue(Session* session, chip::Instr* instr) {
  if (!MayWait(*session, *instr->def)) return session->Issue(*instr);
  WithoutGil released;
  return session->Issue(*instr);
}

PyObject* FillAndIssue(Session* session, const CallableObject& self, const Slots& slots,
                       chip::Instr* instr) {
  ListItems lists;
  if (!FillInstr(self, slots, instr, &lists)) return nullptr;
  instr->source = session->Here();
  const Status status = Issue(session, instr);
  return status.ok() ? NewHandle(session, *instr) : Raise(status);
}

PyObject* Call(PyObject* callable, PyObject* const* args, size_t nargsf, PyObject* keywords) {
  const auto& self = *reinterpret_cast<CallableObject*>(callable);
  Session* session = CurrentOrRaise(self.def->name);
  if (!session) return nullptr;
  Slots slots{};
  if (!BindArguments(self, args, static_cast<size_t>(PyVectorcall_NARGS(nargsf)), keywords,
                     &slots)) {
    return nullptr;
  }
  chip::Instr* instr = session->BeginInstr();
  PyObject* result = nullptr;
  try {
    result = FillAndIssue(session, self, slots, instr);
  } catch (const std::bad_alloc&) {
    result = PyErr_NoMemory();
  }
  session->EndInstr(instr);
  return result;
}

// "dma_copy(dst, src, priority=None, …)"
std::string Signature(const chip::InstrDef& def) {
  std::string text = "(";
  for (size_t i = 0; i < def.params.size(); ++i) {
    const chip::Param& param = def.params[i];
    text += fmt::format("{}{}", i == 0 ? "" : ", ", param.name);
    if (param.default_value) text += fmt::format("={}", param.default_value);
  }
  return text + ")";
}

const chip::InstrDef& DefOf(PyObject* self) {
  return *reinterpret_cast<CallableObject*>(self)->def;
}
PyObject* GetName(PyObject* self, void*) { return PyUnicode_FromString(DefOf(self).name); }
PyObject* GetModule(PyObject*, void*) { return PyUnicode_FromString("nki.isa"); }
PyObject* GetDoc(PyObject* self, void*) {
  const chip::InstrDef& def = DefOf(self);
  return MakeString(fmt::format("{}{}\n\n{}", def.name, Signature(def), def.summary));
}
PyObject* GetParameters(PyObject* self, void*) {
  const auto* callable = reinterpret_cast<CallableObject*>(self);
  PyObject* names = PyTuple_New(static_cast<Py_ssize_t>(callable->num_params));
  for (size_t i = 0; names && i < callable->num_params; ++i) {
    PyTuple_SET_ITEM(names, static_cast<Py_ssize_t>(i), Py_NewRef(callable->names[i]));
  }
  return names;
}
PyGetSetDef getters[] = {{"parameters", GetParameters, nullptr, "Names, in order.", nullptr},
                         {"__name__", GetName, nullptr, nullptr, nullptr},
                         {"__qualname__", GetName, nullptr, nullptr, nullptr},
                         {"__module__", GetModule, nullptr, nullptr, nullptr},
                         {"__doc__", GetDoc, nullptr, nullptr, nullptr},
                         {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* Repr(PyObject* self) {
  return PyUnicode_FromFormat("<instruction nki.isa.%s>", DefOf(self).name);
}

PyObject* MakeCallable(const chip::InstrDef& def) {
  auto* self = PyObject_New(CallableObject, &callable_type);
  if (!self) return nullptr;
  self->call = Call;
  self->def = &def;
  self->num_params = def.params.size();
  for (size_t i = 0; i < self->num_params; ++i) {
    self->names[i] = PyUnicode_InternFromString(def.params[i].name);
    if (!DefaultArg(def.params[i], &self->defaults[i])) {
      RaiseKernelError(ErrorClass::kInternal, "{}: the default {} of {} is not of its kind",
                       def.name, def.params[i].default_value, def.params[i].name);
      return nullptr;
    }
  }
  return reinterpret_cast<PyObject*>(self);
}

void DeallocCallable(PyObject* self) {
  const auto* callable = reinterpret_cast<CallableObject*>(self);
  for (size_t i = 0; i < callable->num_params; ++i) Py_XDECREF(callable->names[i]);
  PyObject_Free(self);
}

// c.depends_on(a, b): c runs after a and b.
PyObject* DependsOn(PyObject* self, PyObject* producers) {
  auto* consumer = reinterpret_cast<HandleObject*>(self);
  Session* session = CurrentOrRaise("depends_on");
  if (!session) return nullptr;
  std::vector<uint64_t> numbers;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(producers); ++i) {
    PyObject* producer = PyTuple_GET_ITEM(producers, i);
    if (Py_TYPE(producer) != &handle_type) {
      return RaiseKernelError(ErrorClass::kArgument,
                              "depends_on: {} is no instruction; expected what nisa calls return",
                              ReprOf(producer));
    }
    const auto* handle = reinterpret_cast<HandleObject*>(producer);
    if (handle->session != session || consumer->session != session ||
        handle->number >= consumer->number) {
      return RaiseKernelError(
          ErrorClass::kArgument,
          "depends_on: {} (number {}) cannot wait for {} (number {}); expected an "
          "earlier instruction of the same kernel",
          consumer->def->name, consumer->number, handle->def->name, handle->number);
    }
    numbers.push_back(handle->number);
  }
  for (const uint64_t number : numbers) session->core().AddDependency(consumer->number, number);
  return Py_NewRef(self);
}

PyMethodDef handle_methods[] = {
    {"depends_on", DependsOn, METH_VARARGS,
     "depends_on(*producers): this instruction runs after each of them; gives itself."},
    {nullptr, nullptr, 0, nullptr}};

PyObject* ReprHandle(PyObject* self) {
  const auto* handle = reinterpret_cast<HandleObject*>(self);
  return PyUnicode_FromFormat("<NkiInstruction %llu: %s>",
                              static_cast<unsigned long long>(handle->number), handle->def->name);
}

bool InitTypes() {
  callable_type.tp_name = "nki.isa.Instruction";
  callable_type.tp_basicsize = sizeof(CallableObject);
  callable_type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL;
  callable_type.tp_vectorcall_offset = offsetof(CallableObject, call);
  callable_type.tp_call = PyVectorcall_Call;
  callable_type.tp_dealloc = DeallocCallable;
  callable_type.tp_getset = getters;
  callable_type.tp_repr = Repr;
  handle_type.tp_name = "nki.isa.NkiInstruction";
  handle_type.tp_basicsize = sizeof(HandleObject);
  handle_type.tp_flags = Py_TPFLAGS_DEFAULT;
  handle_type.tp_doc = "An instruction that has been issued, for depends_on.";
  handle_type.tp_methods = handle_methods;
  handle_type.tp_repr = ReprHandle;
  handle_type.tp_dealloc = [](PyObject* self) { PyObject_Free(self); };
  return PyType_Ready(&callable_type) == 0 && PyType_Ready(&handle_type) == 0;
}

}  // namespace

bool InitInstrTypes(PyObject* module) {
  if (!InitTypes()) return false;
  const Ref all = Ref::Steal(PyDict_New());
  if (!all) return false;
  for (const chip::InstrDef* def : chip::AllInstrs()) {
    const Ref callable = Ref::Steal(MakeCallable(*def));
    if (!callable || PyDict_SetItemString(all.get(), def->name, callable.get()) < 0) return false;
  }
  return PyModule_AddObjectRef(module, "INSTRUCTIONS", all.get()) == 0 &&
         PyModule_AddObjectRef(module, "NkiInstruction",
                               reinterpret_cast<PyObject*>(&handle_type)) == 0;
}

}  // namespace wt::nki
