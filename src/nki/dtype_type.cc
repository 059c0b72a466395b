#include "nki/dtype_type.h"

#include <array>

#include "nki/dtype_names.h"
#include "nki/errors.h"

namespace wt::nki {
namespace {

struct DTypeType {
  PyUnicodeObject text;
  DType dtype;
};

PyTypeObject type = BlankType();
std::array<PyObject*, kNumDTypes> objects{};

DType Of(PyObject* object) { return reinterpret_cast<DTypeType*>(object)->dtype; }

// "float32" of np.float32, np.dtype("float32"), ml_dtypes.bfloat16, torch.float32; empty: no type.
std::string NameOf(PyObject* object) {
  if (PyUnicode_Check(object)) return std::string(Utf8(object));
  for (const char* attribute : {"name", "__name__"}) {
    const Ref name = Ref::Steal(PyObject_GetAttrString(object, attribute));
    if (name && PyUnicode_Check(name.get())) return std::string(Utf8(name.get()));
    PyErr_Clear();
  }
  const Ref text = Ref::Steal(PyObject_Str(object));
  std::string name(text ? Utf8(text.get()) : std::string_view());
  PyErr_Clear();
  constexpr std::string_view kTorch = "torch.";
  return name.starts_with(kTorch) ? name.substr(kTorch.size()) : "";
}

std::optional<DType> Lookup(PyObject* object) {
  if (Py_TYPE(object) == &type) return Of(object);
  const std::string name = NameOf(object);
  if (name == "float8_e4m3fnuz") return std::nullopt;
  return DTypeByLongName(name);
}

PyObject* RichCompare(PyObject* self, PyObject* other, int op) {
  if (op != Py_EQ && op != Py_NE) return PyUnicode_Type.tp_richcompare(self, other, op);
  const auto same = Lookup(other);
  PyErr_Clear();
  const bool equal = same && *same == Of(self);
  return PyBool_FromLong(equal == (op == Py_EQ));
}

Py_hash_t Hash(PyObject* self) { return PyUnicode_Type.tp_hash(self); }

PyObject* Repr(PyObject* self) { return PyUnicode_FromFormat("nki.dtype.%U", self); }

PyObject* GetName(PyObject* self, void*) { return PyUnicode_FromString(DTypeLongName(Of(self))); }
PyObject* GetItemSize(PyObject* self, void*) { return PyLong_FromLongLong(DTypeBytes(Of(self))); }
PyObject* GetIsInteger(PyObject* self, void*) { return PyBool_FromLong(IsInteger(Of(self))); }

PyGetSetDef getters[] = {{"name", GetName, nullptr, "The type's name.", nullptr},
                         {"itemsize", GetItemSize, nullptr, "Bytes an element.", nullptr},
                         {"is_integer", GetIsInteger, nullptr, "Integers and bool.", nullptr},
                         {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* Reduce(PyObject* self, PyObject*) {
  const Ref module = Ref::Steal(PyImport_ImportModule("nki._core"));
  const Ref find = Ref::Steal(module ? PyObject_GetAttrString(module.get(), "dtype") : nullptr);
  return find ? Py_BuildValue("O(s)", find.get(), DTypeLongName(Of(self))) : nullptr;
}
PyMethodDef methods[] = {{"__reduce__", Reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyObject* MakeObject(DType dtype) {
  const Ref text = Ref::Steal(PyUnicode_FromString(DTypeLongName(dtype)));
  const Ref arguments = Ref::Steal(text ? PyTuple_Pack(1, text.get()) : nullptr);
  if (!arguments) return nullptr;
  PyObject* object = PyUnicode_Type.tp_new(&type, arguments.get(), nullptr);
  if (object) reinterpret_cast<DTypeType*>(object)->dtype = dtype;
  return object;
}

PyObject* New(PyTypeObject*, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"name", nullptr};
  PyObject* name = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O:DType", const_cast<char**>(names),
                                   &name)) {
    return nullptr;
  }
  DType dtype;
  return ParseDTypeObject(name, "dtype", &dtype) ? Py_NewRef(DTypeObject(dtype)) : nullptr;
}

}  // namespace

bool InitDTypes(PyObject* module) {
  type.tp_name = "nki.dtype.DType";
  type.tp_basicsize = sizeof(DTypeType);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_base = &PyUnicode_Type;
  type.tp_richcompare = RichCompare;
  type.tp_hash = Hash;
  type.tp_repr = Repr;
  type.tp_getset = getters;
  type.tp_methods = methods;
  type.tp_new = New;
  type.tp_doc = "An element type; equal to its name and to NumPy's type of the same name.";
  if (PyType_Ready(&type) < 0) return false;
  const Ref names = Ref::Steal(PyDict_New());
  if (!names) return false;
  for (int i = 0; i < kNumDTypes; ++i) {
    objects[i] = MakeObject(static_cast<DType>(i));
    if (!objects[i]) return false;
    if (PyDict_SetItemString(names.get(), DTypeLongName(static_cast<DType>(i)), objects[i]) < 0) {
      return false;
    }
  }
  auto* type_object = reinterpret_cast<PyObject*>(&type);
  return PyModule_AddObjectRef(module, "dtype", type_object) == 0 &&
         PyModule_AddObjectRef(module, "DTYPES", names.get()) == 0;
}

PyObject* DTypeObject(DType dtype) { return objects[static_cast<size_t>(dtype)]; }

bool ParseDTypeObject(PyObject* object, const char* what, DType* dtype) {
  const auto found = Lookup(object);
  PyErr_Clear();
  if (found) {
    *dtype = *found;
    return true;
  }
  RaiseKernelError(chip::ErrorClass::kDtype,
                   "{}: {} is not an element type of NKI; expected one of nl.float32, nl.bfloat16, "
                   "nl.float16, nl.float8_e4m3, nl.float8_e5m2, nl.int32, nl.int8, nl.uint8, …",
                   what, ReprOf(object));
  return false;
}

}  // namespace wt::nki
