// t[…]: index expressions from Python objects. On the path of every instruction, so tuples of
// integers and slices are read without calls into Python.
#include "nki/errors.h"
#include "nki/tensor_type.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;

constexpr int kMaxItems = kMaxRank + 4;

PyTypeObject slice_type = BlankType();  // nl.ds

struct DynamicSliceObject {
  PyObject_HEAD PyObject* start;
  int64_t size;
};

bool ParseBound(PyObject* object, int64_t* value) {
  if (PyLong_CheckExact(object)) {
    const Py_ssize_t bound = PyLong_AsSsize_t(object);
    if (bound == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      RaiseKernelError(ErrorClass::kOutOfBounds, "index {}: far outside any tensor",
                       ReprOf(object));
      return false;
    }
    *value = bound;
    return true;
  }
  if (IsRegister(object)) {
    RaiseKernelError(ErrorClass::kUnsupported,
                     "a register as the bound of a slice; write nl.ds(register, size)");
    return false;
  }
  return ParseInt(object, "index", value);
}

bool ParseSlice(PyObject* object, IndexItem* item) {
  const auto* slice = reinterpret_cast<PySliceObject*>(object);
  item->kind = IndexItem::kSlice;
  item->has_start = slice->start != Py_None;
  item->has_stop = slice->stop != Py_None;
  item->step = 1;
  return (!item->has_start || ParseBound(slice->start, &item->start)) &&
         (!item->has_stop || ParseBound(slice->stop, &item->stop)) &&
         (slice->step == Py_None || ParseBound(slice->step, &item->step));
}

bool SetIndex(PyObject* object, PyObject** index) {
  if (*index) {
    RaiseKernelError(ErrorClass::kUnsupported, "two registers in one index; one a view is allowed");
    return false;
  }
  *index = object;
  return true;
}

bool IsRunTimeIndex(PyObject* object) { return IsRegister(object) || IsTensor(object); }

bool ParseDynamicSlice(PyObject* object, IndexItem* item, PyObject** index) {
  const auto* slice = reinterpret_cast<DynamicSliceObject*>(object);
  if (IsRunTimeIndex(slice->start)) {
    item->kind = IndexItem::kDynamicSlice;
    item->stop = slice->size;
    return SetIndex(slice->start, index);
  }
  item->kind = IndexItem::kSlice;
  item->exact = true;
  if (!ParseInt(slice->start, "ds: start", &item->start)) return false;
  item->has_start = item->has_stop = true;
  item->step = 1;
  if (__builtin_add_overflow(item->start, slice->size, &item->stop)) item->stop = INT64_MAX;
  return true;
}

bool ParseItem(PyObject* object, IndexItem* item, PyObject** index) {
  if (PySlice_Check(object)) return ParseSlice(object, item);
  if (object == Py_Ellipsis) {
    item->kind = IndexItem::kEllipsis;
    return true;
  }
  if (object == Py_None) {
    item->kind = IndexItem::kNewAxis;
    return true;
  }
  if (Py_TYPE(object) == &slice_type) return ParseDynamicSlice(object, item, index);
  if (IsRunTimeIndex(object)) {
    item->kind = IndexItem::kDynamic;
    return SetIndex(object, index);
  }
  if (PyBool_Check(object) || !PyIndex_Check(object)) {
    RaiseKernelError(ErrorClass::kArgument,
                     "index {}: expected integers, slices, ..., None, nl.ds(start, size) or a "
                     "register",
                     ReprOf(object));
    return false;
  }
  item->kind = IndexItem::kInteger;
  return ParseBound(object, &item->start);
}

void DeallocSlice(PyObject* self) {
  Py_XDECREF(reinterpret_cast<DynamicSliceObject*>(self)->start);
  Py_TYPE(self)->tp_free(self);
}

PyObject* NewSlice(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"start", "size", nullptr};
  PyObject *start = nullptr, *size = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO:ds", const_cast<char**>(names), &start,
                                   &size)) {
    return nullptr;
  }
  int64_t count = 0;
  if (!ParseInt(size, "ds: size", &count)) return nullptr;
  if (count < 1) {
    return RaiseKernelError(ErrorClass::kShape, "ds: a size of {}; expected at least 1", count);
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (!self) return nullptr;
  reinterpret_cast<DynamicSliceObject*>(self)->start = Py_NewRef(start);
  reinterpret_cast<DynamicSliceObject*>(self)->size = count;
  return self;
}

PyObject* ReprSlice(PyObject* self) {
  const auto* slice = reinterpret_cast<DynamicSliceObject*>(self);
  return PyUnicode_FromFormat("ds(%R, %lld)", slice->start, static_cast<long long>(slice->size));
}

PyObject* GetStart(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<DynamicSliceObject*>(self)->start);
}
PyObject* GetSize(PyObject* self, void*) {
  return PyLong_FromLongLong(reinterpret_cast<DynamicSliceObject*>(self)->size);
}
PyGetSetDef slice_getters[] = {{"start", GetStart, nullptr, nullptr, nullptr},
                               {"size", GetSize, nullptr, nullptr, nullptr},
                               {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyObject* TensorSubscript(PyObject* self, PyObject* key) {
  PyObject* const* objects = &key;
  Py_ssize_t count = 1;
  if (PyTuple_Check(key)) {
    objects = reinterpret_cast<PyTupleObject*>(key)->ob_item;
    count = PyTuple_GET_SIZE(key);
  }
  if (count > kMaxItems) {
    return RaiseKernelError(ErrorClass::kShape,
                            "index of {} items; a view has at most {} dimensions", count, kMaxRank);
  }
  std::array<IndexItem, kMaxItems> items;
  PyObject* index = nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!ParseItem(objects[i], &items[i], &index)) return nullptr;
  }
  TensorObject* tensor = AsTensor(self);
  View view;
  const Status status =
      Index(tensor->view, std::span(items.data(), static_cast<size_t>(count)), &view);
  if (!status.ok()) return Raise(status);
  return NewView(view, index ? index : tensor->index);
}

bool InitDynamicSlice(PyObject* module) {
  slice_type.tp_name = "nki.language.ds";
  slice_type.tp_basicsize = sizeof(DynamicSliceObject);
  slice_type.tp_flags = Py_TPFLAGS_DEFAULT;
  slice_type.tp_doc = "ds(start, size): `size` elements from `start`, an integer or a register.";
  slice_type.tp_dealloc = DeallocSlice;
  slice_type.tp_new = NewSlice;
  slice_type.tp_repr = ReprSlice;
  slice_type.tp_getset = slice_getters;
  return PyType_Ready(&slice_type) == 0 &&
         PyModule_AddObjectRef(module, "ds", reinterpret_cast<PyObject*>(&slice_type)) == 0;
}

}  // namespace wt::nki
