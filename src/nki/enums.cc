#include "nki/enums.h"

#include <array>
#include <unordered_map>
#include <vector>

#include "nki/buffers.h"
#include "nki/errors.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;
using chip::ParamKind;

// What the table calls a member of an enumeration.
struct Value {
  const char* name;
  int64_t value;
};

struct Enumeration {
  ParamKind kind;
  const char* name;
  std::vector<Value> values;
  std::vector<std::pair<PyObject*, int64_t>> members;  // Python's, by address
};

int64_t Number(auto value) { return static_cast<int64_t>(value); }

std::vector<Value> Engines() {
  std::vector<Value> values;
  for (int i = 0; i <= chip::kNumEngines; ++i) {
    values.push_back({chip::EngineName(static_cast<chip::Engine>(i)), i});
  }
  return values;
}

std::vector<Enumeration>& Enumerations() {
  using chip::DgeMode, chip::OobMode, chip::PerfMode, chip::ReduceCmd;
  static std::vector<Enumeration> all = {
      {ParamKind::kEngine, "engine", Engines(), {}},
      {ParamKind::kReduceCmd,
       "reduce_cmd",
       {{"idle", Number(ReduceCmd::kIdle)},
        {"reset", Number(ReduceCmd::kReset)},
        {"reduce", Number(ReduceCmd::kReduce)},
        {"reset_reduce", Number(ReduceCmd::kResetReduce)},
        {"load_reduce", Number(ReduceCmd::kLoadReduce)}},
       {}},
      {ParamKind::kDgeMode,
       "dge_mode",
       {{"unknown", Number(DgeMode::kUnknown)},
        {"swdge", Number(DgeMode::kSwdge)},
        {"hwdge", Number(DgeMode::kHwdge)},
        {"none", Number(DgeMode::kNone)}},
       {}},
      {ParamKind::kOobMode,
       "oob_mode",
       {{"error", Number(OobMode::kError)}, {"skip", Number(OobMode::kSkip)}},
       {}},
      {ParamKind::kPerfMode,
       "matmul_perf_mode",
       {{"none", Number(PerfMode::kNone)}, {"double_row", Number(PerfMode::kDoubleRow)}},
       {}},
      {ParamKind::kDmaEngine, "dma_engine", {{"dma", 1}, {"gpsimd_dma", 2}}, {}},
  };
  return all;
}

Enumeration* Find(ParamKind kind) {
  for (Enumeration& enumeration : Enumerations()) {
    if (enumeration.kind == kind) return &enumeration;
  }
  return nullptr;
}

std::string Names(const Enumeration& enumeration) {
  std::string text;
  for (const Value& value : enumeration.values) {
    text += fmt::format("{}{}.{}", text.empty() ? "" : ", ", enumeration.name, value.name);
  }
  return text;
}

}  // namespace

bool RegisterEnum(const char* name, PyObject* enum_class) {
  for (Enumeration& enumeration : Enumerations()) {
    if (std::string_view(name) != enumeration.name) continue;
    for (const Value& value : enumeration.values) {
      PyObject* member = PyObject_GetAttrString(enum_class, value.name);
      if (!member) return false;
      enumeration.members.emplace_back(member, value.value);  // members live for ever
    }
    return true;
  }
  RaiseKernelError(ErrorClass::kInternal, "register_enum: no enumeration {}", name);
  return false;
}

namespace {

// A member, or its number: libraries pass those too.
bool IsMember(PyObject* member, PyObject* object) {
  if (member == object) return true;
  if (!PyLong_CheckExact(object)) return false;
  const Ref number = Ref::Steal(PyObject_GetAttrString(member, "value"));
  if (!number) PyErr_Clear();
  return number && PyObject_RichCompareBool(number.get(), object, Py_EQ) == 1;
}

}  // namespace

bool ParseEnum(ParamKind kind, PyObject* object, const std::string& what, int64_t* value) {
  const Enumeration* enumeration = Find(kind);
  for (const auto& [member, number] : enumeration->members) {
    if (IsMember(member, object)) {
      *value = number;
      return true;
    }
  }
  RaiseKernelError(ErrorClass::kArgument, "{}: {} is no {}; expected one of {}", what,
                   ReprOf(object), enumeration->name, Names(*enumeration));
  return false;
}

bool EnumValueByName(ParamKind kind, std::string_view name, int64_t* value) {
  if (const size_t dot = name.rfind('.'); dot != name.npos) name.remove_prefix(dot + 1);
  for (const Value& candidate : Find(kind)->values) {
    if (name == candidate.name) {
      *value = candidate.value;
      return true;
    }
  }
  return false;
}

namespace {

struct Op {
  int64_t alu = -1, activation = -1;
};

std::unordered_map<PyObject*, Op>& Ops() {
  static std::unordered_map<PyObject*, Op> ops;  // keys live for ever
  return ops;
}

Op OpByName(std::string_view name) {
  Op op;
  if (!AluOpByName(name, &op.alu)) op.alu = -1;
  if (!ActivationByName(name, &op.activation)) op.activation = -1;
  return op;
}

// NumPy's ufuncs go by their names.
const Op* FindOp(PyObject* object) {
  const auto found = Ops().find(object);
  if (found != Ops().end()) return &found->second;
  if (std::string_view(TypeName(object)) != "numpy.ufunc") return nullptr;
  const Ref name = Ref::Steal(PyObject_GetAttrString(object, "__name__"));
  if (!name || !PyUnicode_Check(name.get())) {
    PyErr_Clear();
    return nullptr;
  }
  const std::string text(Utf8(name.get()));
  if (text == "absolute") return RegisterOp(object, "abs") ? FindOp(object) : nullptr;
  return RegisterOp(object, text.c_str()) ? FindOp(object) : nullptr;
}

std::string OpText(PyObject* object) {
  const Ref name = Ref::Steal(PyObject_GetAttrString(object, "__name__"));
  PyErr_Clear();
  return name && PyUnicode_Check(name.get()) ? std::string(Utf8(name.get())) : ReprOf(object);
}

bool ParseOp(PyObject* object, const std::string& what, const char* kind, const char* examples,
             int64_t Op::*member, int64_t* value) {
  const Op* op = FindOp(object);
  if (op && op->*member >= 0) {
    *value = op->*member;
    return true;
  }
  RaiseKernelError(ErrorClass::kArgument, "{}: {} is no {}; expected {}", what, OpText(object),
                   kind, examples);
  return false;
}

template <class E>
bool ByName(const char* (*name_of)(E), std::string_view name, int64_t* value) {
  for (int i = 0; i < static_cast<int>(E::kCount); ++i) {
    if (name == name_of(static_cast<E>(i))) {
      *value = i;
      return true;
    }
  }
  return false;
}

}  // namespace

bool AluOpByName(std::string_view name, int64_t* value) {
  return ByName(chip::AluOpName, name, value);
}

bool ActivationByName(std::string_view name, int64_t* value) {
  return ByName(chip::ActivationName, name, value);
}

bool RegisterOp(PyObject* callable, const char* name) {
  if (Ops().emplace(callable, OpByName(name)).second) Py_INCREF(callable);
  return true;
}

bool ParseAluOp(PyObject* object, const std::string& what, int64_t* value) {
  return ParseOp(object, what, "operation of the Vector engine",
                 "one of nki.language's: nl.add, nl.multiply, nl.maximum, …", &Op::alu, value);
}

bool ParseActivation(PyObject* object, const std::string& what, int64_t* value) {
  return ParseOp(object, what, "function of the Scalar engine",
                 "one of nki.language's: nl.copy, nl.exp, nl.rsqrt, nl.gelu, …", &Op::activation,
                 value);
}

// Buffers.

namespace {

struct Buffer {
  const char* name;
  chip::Memory memory;
  bool shared;
  PyObject* member;
};
std::array<Buffer, 4> buffers = {{{"sbuf", chip::Memory::kSbuf, false, nullptr},
                                  {"psum", chip::Memory::kPsum, false, nullptr},
                                  {"private_hbm", chip::Memory::kHbm, false, nullptr},
                                  {"shared_hbm", chip::Memory::kHbm, true, nullptr}}};

}  // namespace

bool RegisterBuffers(PyObject* memory_region) {
  for (Buffer& buffer : buffers) {
    buffer.member = PyObject_GetAttrString(memory_region, buffer.name);
    if (!buffer.member) return false;
  }
  return true;
}

PyObject* BufferObject(chip::Memory memory, bool shared) {
  for (const Buffer& buffer : buffers) {
    if (buffer.memory == memory && buffer.shared == shared && buffer.member) {
      return Py_NewRef(buffer.member);
    }
  }
  return RaiseKernelError(ErrorClass::kInternal, "nki.language is not imported");
}

bool ParseBuffer(PyObject* object, chip::Memory* memory, bool* shared) {
  for (const Buffer& buffer : buffers) {
    if (buffer.member == object) {
      *memory = buffer.memory;
      *shared = buffer.shared;
      return true;
    }
  }
  RaiseKernelError(ErrorClass::kArgument,
                   "buffer: {} is no memory; expected nl.sbuf, nl.psum, nl.hbm, nl.private_hbm or "
                   "nl.shared_hbm",
                   ReprOf(object));
  return false;
}

}  // namespace wt::nki
