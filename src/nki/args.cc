#include "nki/args.h"

#include <bit>
#include <charconv>

#include "nki/enums.h"
#include "nki/errors.h"
#include "nki/tensor_type.h"

namespace wt::nki {
namespace {

using chip::Arg;
using chip::ErrorClass;
using chip::Param;
using chip::ParamKind;
using chip::Role;

constexpr Py_ssize_t kMaxOperands = 64;  // of a list; instructions allow fewer

struct Reader {
  const chip::InstrDef& def;
  size_t param;
  PyObject* object;
  chip::Instr& instr;
  ListItems& lists;

  Arg& arg() { return instr.args[param]; }
  std::string Name() const { return ArgName(def, param); }

  bool Refuse(const char* expected) const {
    RaiseKernelError(ErrorClass::kArgument, "{}: expected {}, got {}", Name(), expected,
                     DescribeOperand(object));
    return false;
  }

  bool Named(int64_t value) {
    arg().kind = Arg::kName;
    arg().i = value;
    return true;
  }

  // Appends an operand and says where it is.
  bool Push(PyObject* operand, Role role) {
    chip::AccessPattern& pattern = instr.operands.emplace_back();
    const int place = static_cast<int>(instr.operands.size()) - 1;
    Storage* storage =
        IsTensor(operand) ? AsTensor(operand)->view.storage : AsRegister(operand)->storage;
    if (role == Role::kWrite || role == Role::kReadWrite) {
      if (storage->frozen) {
        return Refuse(
            "a register that may be written: a loop's own register stays as the loop "
            "sets it");
      }
      storage->written = true;
    }
    if (!IsTensor(operand)) {
      const Status status = RegisterPattern(AsRegister(operand), &pattern);
      if (status.ok()) return true;
      Raise(status);
      return false;
    }
    const View& view = AsTensor(operand)->view;
    if (const Status status = ToAccessPattern(view, &pattern); !status.ok()) {
      Raise(status);
      return false;
    }
    return view.indirect == Indirect::kNone || PushIndex(AsTensor(operand), place);
  }

  bool PushIndex(TensorObject* tensor, int place) {
    const View& view = tensor->view;
    chip::Dynamic dynamic;
    dynamic.operand = place;
    dynamic.vector = view.indirect == Indirect::kVector;
    dynamic.indirect_dim = view.indirect_dim;
    dynamic.unit = view.indirect_unit;
    dynamic.index_operand = static_cast<int>(instr.operands.size());
    if (IsTensor(tensor->index) && AsTensor(tensor->index)->view.indirect != Indirect::kNone) {
      return Refuse("an index that is not itself chosen by an index");
    }
    instr.dynamics.push_back(dynamic);
    return Push(tensor->index, Role::kIndex);
  }

  bool Operand(Role role) {
    if (!IsTensor(object) && !IsRegister(object)) return Refuse("a tensor");
    const int64_t place = static_cast<int64_t>(instr.operands.size());
    if (!Push(object, role)) return false;
    arg().kind = Arg::kOperand;
    arg().i = place;
    return true;
  }

  bool Operands() {
    if (!PyTuple_Check(object) && !PyList_Check(object)) return Refuse("a tuple of tensors");
    const Ref items = Ref::Steal(PySequence_Tuple(object));
    if (!items) return false;
    lists.push_back(items);
    const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
    if (count > kMaxOperands) return Refuse("at most 64 tensors");
    arg().kind = Arg::kOperands;
    arg().i = static_cast<int64_t>(instr.operands.size());
    arg().count = static_cast<int32_t>(count);
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* item = PyTuple_GET_ITEM(items.get(), i);
      if (!IsTensor(item)) return Refuse("a tuple of tensors");
      const Status status = ToAccessPattern(AsTensor(item)->view, &instr.operands.emplace_back());
      if (!status.ok()) {
        Raise(status);
        return false;
      }
    }
    // Sources stand side by side, so their indices come after them.
    for (Py_ssize_t i = 0; i < count; ++i) {
      TensorObject* item = AsTensor(PyTuple_GET_ITEM(items.get(), i));
      if (item->view.indirect == Indirect::kNone) continue;
      if (!PushIndex(item, static_cast<int>(arg().i + i))) return false;
    }
    return true;
  }

  bool Integer(PyObject* value) {
    arg().kind = Arg::kInt;
    return ParseInt(value, Name().c_str(), &arg().i);
  }

  // An int stays an int: memset and its like look at the difference.
  bool Number() {
    if (PyFloat_Check(object)) {
      arg().kind = Arg::kFloat;
      arg().f = PyFloat_AS_DOUBLE(object);
      return true;
    }
    if (PyBool_Check(object)) {
      arg().kind = Arg::kBool;
      arg().i = object == Py_True;
      return true;
    }
    if (PyIndex_Check(object)) return Integer(object);
    const bool number = Py_TYPE(object)->tp_as_number && Py_TYPE(object)->tp_as_number->nb_float;
    if (!number || PyUnicode_Check(object)) return Refuse("a number");
    arg().kind = Arg::kFloat;
    arg().f = PyFloat_AsDouble(object);
    if (!PyErr_Occurred()) return true;
    PyErr_Clear();
    return Refuse("a number");
  }

  bool Bool() {
    if (PyBool_Check(object)) {
      arg().kind = Arg::kBool;
      arg().i = object == Py_True;
      return true;
    }
    const bool numpy = std::string_view(TypeName(object)).starts_with("numpy.bool");
    if (!numpy && !PyLong_Check(object)) return Refuse("True or False");
    const int truth = PyObject_IsTrue(object);
    if (truth < 0) return false;
    arg().kind = Arg::kBool;
    arg().i = truth;
    return true;
  }

  bool Span(const std::vector<int64_t>& values) {
    if (values.empty()) return true;
    arg().kind = Arg::kInts;
    arg().i = static_cast<int64_t>(instr.ints.size());
    arg().count = static_cast<int32_t>(values.size());
    instr.ints.insert(instr.ints.end(), values.begin(), values.end());
    return true;
  }

  bool Ints() {
    std::vector<int64_t> values;
    if (PyUnicode_Check(object)) return Refuse("an integer or a tuple of integers");
    return ParseInts(object, Name().c_str(), &values) && Span(values);
  }

  bool Pattern() {
    std::vector<int64_t> values;
    if (!PyTuple_Check(object) && !PyList_Check(object)) return Refuse("[[step, size], …]");
    const Ref pairs = Ref::Steal(PySequence_Tuple(object));
    for (Py_ssize_t i = 0; pairs && i < PyTuple_GET_SIZE(pairs.get()); ++i) {
      PyObject* pair = PyTuple_GET_ITEM(pairs.get(), i);
      std::vector<int64_t> numbers;
      if (!PyTuple_Check(pair) && !PyList_Check(pair)) return Refuse("[[step, size], …]");
      if (!ParseInts(pair, Name().c_str(), &numbers)) return false;
      if (numbers.size() != 2) return Refuse("[[step, size], …]");
      values.insert(values.end(), numbers.begin(), numbers.end());
    }
    return pairs && Span(values);
  }

  bool Floats() {
    if (!PyTuple_Check(object) && !PyList_Check(object)) return Refuse("a tuple of numbers");
    const Ref items = Ref::Steal(PySequence_Tuple(object));
    std::vector<int64_t> values;
    for (Py_ssize_t i = 0; items && i < PyTuple_GET_SIZE(items.get()); ++i) {
      const double value = PyFloat_AsDouble(PyTuple_GET_ITEM(items.get(), i));
      if (PyErr_Occurred()) {
        PyErr_Clear();
        return Refuse("a tuple of numbers");
      }
      values.push_back(std::bit_cast<int64_t>(value));
    }
    return items && Span(values);
  }

  bool String() {
    if (!PyUnicode_Check(object)) return Refuse("a string");
    const std::string_view text = Utf8(object);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      return Refuse("a string of valid characters");
    }
    instr.name = text;
    return true;
  }

  bool Enumeration(ParamKind kind) {
    int64_t value = 0;
    if (!ParseEnum(kind, object, Name(), &value)) return false;
    return Named(value);
  }

  bool Op(bool (*parse)(PyObject*, const std::string&, int64_t*)) {
    int64_t value = 0;
    return parse(object, Name(), &value) && Named(value);
  }

  bool Read(const Param& row);
};

bool Reader::Read(const Param& row) {
  arg() = Arg{};
  if (object == Py_None && row.default_value && std::string_view(row.default_value) == "None") {
    return true;
  }
  switch (row.kind) {
    case ParamKind::kDst:
      return Operand(Role::kWrite);
    case ParamKind::kDstRead:
      return Operand(Role::kReadWrite);
    case ParamKind::kSrc:
      return Operand(Role::kRead);
    case ParamKind::kSrcOrFloat:
      return IsTensor(object) || IsRegister(object) ? Operand(Role::kRead) : Number();
    case ParamKind::kSrcs:
      return Operands();
    case ParamKind::kFloat:
      return Number();
    case ParamKind::kInt:
      if (IsRegister(object) && (row.memories & chip::kInRegister)) return Operand(Role::kRead);
      return Integer(object);
    case ParamKind::kBool:
      return Bool();
    case ParamKind::kAluOp:
      return Op(ParseAluOp);
    case ParamKind::kActivation:
      return Op(ParseActivation);
    case ParamKind::kEngine:
    case ParamKind::kReduceCmd:
    case ParamKind::kDgeMode:
    case ParamKind::kOobMode:
    case ParamKind::kPerfMode:
    case ParamKind::kDmaEngine:
      return Enumeration(row.kind);
    case ParamKind::kInts:
      return Ints();
    case ParamKind::kPattern:
      return Pattern();
    case ParamKind::kFloats:
      return Floats();
    case ParamKind::kString:
      return String();
  }
  return Refuse("another kind of argument");
}

bool ParseNumber(std::string_view text, Arg* arg) {
  int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (const auto [at, error] = std::from_chars(text.data(), end, integer);
      error == std::errc() && at == end) {
    arg->kind = Arg::kInt;
    arg->i = integer;
    return true;
  }
  double number = 0;
  const auto [at, error] = std::from_chars(text.data(), end, number);
  arg->kind = Arg::kFloat;
  arg->f = number;
  return error == std::errc() && at == end;
}

bool ParseName(const Param& param, std::string_view text, Arg* arg) {
  arg->kind = Arg::kName;
  if (param.kind == ParamKind::kAluOp) return AluOpByName(text, &arg->i);
  if (param.kind == ParamKind::kActivation) return ActivationByName(text, &arg->i);
  return EnumValueByName(param.kind, text, &arg->i);
}

}  // namespace

std::string ArgName(const chip::InstrDef& def, size_t param) {
  return fmt::format("{}: {}", def.name, def.params[param].name);
}

bool ReadArg(const chip::InstrDef& def, size_t param, PyObject* object, chip::Instr* instr,
             ListItems* lists) {
  Reader reader{def, param, object, *instr, *lists};
  return reader.Read(def.params[param]);
}

bool DefaultArg(const Param& param, Arg* arg) {
  *arg = Arg{};
  if (!param.default_value) return true;
  const std::string_view text = param.default_value;
  if (text == "None" || text == "()" || param.kind == ParamKind::kString) return true;
  switch (param.kind) {
    case ParamKind::kBool:
      arg->kind = Arg::kBool;
      arg->i = text == "True";
      return text == "True" || text == "False";
    case ParamKind::kSrcOrFloat:
    case ParamKind::kFloat:
    case ParamKind::kInt:
      return ParseNumber(text, arg);
    case ParamKind::kDst:
    case ParamKind::kDstRead:
    case ParamKind::kSrc:
    case ParamKind::kSrcs:
    case ParamKind::kInts:
    case ParamKind::kPattern:
    case ParamKind::kFloats:
      return false;
    default:
      return ParseName(param, text.substr(text.rfind('.') + 1), arg);
  }
}

}  // namespace wt::nki
