#include "nki/tensor_type.h"

#include "nki/buffers.h"
#include "nki/dtype_type.h"
#include "nki/errors.h"

namespace wt::nki {

using chip::ErrorClass;

PyTypeObject tensor_type = BlankType();

namespace {

PyMappingMethods mapping;
PyNumberMethods number;

void Dealloc(PyObject* self) {
  TensorObject* tensor = AsTensor(self);
  Py_XDECREF(tensor->index);
  Release(tensor->view.storage);
  PyObject_Free(self);
}

PyObject* IntTuple(std::span<const int64_t> values) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(values.size()));
  for (size_t i = 0; tuple && i < values.size(); ++i) {
    PyObject* value = PyLong_FromLongLong(values[i]);
    if (!value) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), value);
  }
  return tuple;
}

PyObject* GetShape(PyObject* self, void*) { return IntTuple(AsTensor(self)->view.dims()); }
PyObject* GetStrides(PyObject* self, void*) {
  const View& view = AsTensor(self)->view;
  return IntTuple({view.strides.data(), view.rank});
}
PyObject* GetOffset(PyObject* self, void*) {
  return PyLong_FromLongLong(AsTensor(self)->view.offset);
}
PyObject* GetDType(PyObject* self, void*) {
  return Py_NewRef(DTypeObject(AsTensor(self)->view.dtype));
}
PyObject* GetBuffer(PyObject* self, void*) {
  const Storage& storage = *AsTensor(self)->view.storage;
  return BufferObject(storage.memory, storage.shared);
}
PyObject* GetNdim(PyObject* self, void*) { return PyLong_FromLong(AsTensor(self)->view.rank); }
PyObject* GetSize(PyObject* self, void*) {
  return PyLong_FromLongLong(AsTensor(self)->view.size());
}
PyObject* GetItemSize(PyObject* self, void*) {
  return PyLong_FromLongLong(DTypeBytes(AsTensor(self)->view.dtype));
}
PyObject* GetPartitionElements(PyObject* self, void*) {
  const View& view = AsTensor(self)->view;
  return PyLong_FromLongLong(view.on_chip() ? view.partition_elements() : 0);
}
PyObject* GetStorageId(PyObject* self, void*) {
  return PyLong_FromVoidPtr(AsTensor(self)->view.storage);
}
PyObject* GetName(PyObject* self, void*) { return MakeString(AsTensor(self)->view.storage->name); }

PyGetSetDef getters[] = {
    {"shape", GetShape, nullptr, "Sizes of the dimensions; on chip the first are partitions.",
     nullptr},
    {"strides", GetStrides, nullptr, "Elements from one index to the next, by dimension.", nullptr},
    {"offset", GetOffset, nullptr, "Elements from the start of the storage to the view.", nullptr},
    {"dtype", GetDType, nullptr, "The element type.", nullptr},
    {"buffer", GetBuffer, nullptr, "The memory: nl.sbuf, nl.psum, nl.private_hbm, nl.shared_hbm.",
     nullptr},
    {"ndim", GetNdim, nullptr, "The number of dimensions.", nullptr},
    {"size", GetSize, nullptr, "The number of elements.", nullptr},
    {"itemsize", GetItemSize, nullptr, "Bytes an element.", nullptr},
    {"name", GetName, nullptr, "The name given to nl.ndarray, or an empty one.", nullptr},
    {"partition_elements", GetPartitionElements, nullptr,
     "On chip: elements of this type that a partition of the storage holds, its stride.", nullptr},
    {"storage_id", GetStorageId, nullptr, "A number that views of one storage share.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* Repr(PyObject* self) {
  return MakeString(fmt::format("<{}>", Describe(AsTensor(self)->view)));
}

Py_ssize_t Length(PyObject* self) { return AsTensor(self)->view.shape[0]; }

int SetItem(PyObject* self, PyObject* key, PyObject* value) {
  if (!value) {
    RaiseKernelError(ErrorClass::kUnsupported, "elements of a tensor cannot be deleted");
    return -1;
  }
  const Ref view = Ref::Steal(TensorSubscript(self, key));
  if (!view) return -1;
  RaiseKernelError(
      ErrorClass::kUnsupported,
      "assignment to {}; write with an instruction: nisa.tensor_copy(dst=t[…], src=…), "
      "nisa.memset, or nisa.dma_copy to and from HBM",
      Describe(AsTensor(view.get())->view));
  return -1;
}

// True, except for what a comparison gave: then whether all of it holds (tensor_values.cc).
int Bool(PyObject* self) {
  TensorObject* tensor = AsTensor(self);
  return tensor->comparison ? AllTrue(tensor) : 1;
}

void InitTensor() {
  tensor_type.tp_name = "nki.language.NkiTensor";
  tensor_type.tp_basicsize = sizeof(TensorObject);
  tensor_type.tp_flags = Py_TPFLAGS_DEFAULT;
  tensor_type.tp_doc = "A tensor in SBUF, PSUM or HBM, or a view of one; nl.ndarray makes them.";
  tensor_type.tp_dealloc = Dealloc;
  tensor_type.tp_repr = Repr;
  tensor_type.tp_getset = getters;
  tensor_type.tp_methods = tensor_methods;
  mapping.mp_length = Length;
  mapping.mp_subscript = TensorSubscript;
  mapping.mp_ass_subscript = SetItem;
  number.nb_bool = Bool;
  tensor_type.tp_as_mapping = &mapping;
  tensor_type.tp_as_number = &number;
}

}  // namespace

PyObject* NewView(const View& view, PyObject* index) {
  auto* self = static_cast<TensorObject*>(PyObject_Malloc(sizeof(TensorObject)));
  if (!self) return PyErr_NoMemory();
  PyObject_Init(reinterpret_cast<PyObject*>(self), &tensor_type);
  Py_XINCREF(index);
  self->index = index;
  self->comparison = false;
  self->view = view;
  Retain(view.storage);
  return reinterpret_cast<PyObject*>(self);
}

PyObject* NewTensor(Storage* storage, std::span<const int64_t> shape) {
  PyObject* self = NewView(WholeView(storage, shape), nullptr);
  Release(storage);
  return self;
}

std::string DescribeOperand(PyObject* object) {
  if (IsTensor(object)) return Describe(AsTensor(object)->view);
  if (IsRegister(object)) return "a register";
  return fmt::format("{} ({})", ReprOf(object), TypeName(object));
}

bool ParseInt(PyObject* object, const char* what, int64_t* value) {
  const Ref index = Ref::Steal(PyNumber_Index(object));
  if (!index) {
    PyErr_Clear();
    RaiseKernelError(ErrorClass::kArgument, "{}: expected an integer, got {}", what,
                     DescribeOperand(object));
    return false;
  }
  int overflow = 0;
  *value = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow == 0) return true;
  RaiseKernelError(ErrorClass::kArgument, "{}: {} does not fit 64 bits", what, ReprOf(index.get()));
  return false;
}

bool ParseInts(PyObject* object, const char* what, std::vector<int64_t>* values) {
  values->clear();
  if (!PyTuple_Check(object) && !PyList_Check(object)) {
    values->push_back(0);
    return ParseInt(object, what, &values->back());
  }
  // A copy: an item's __index__ may change the list.
  const Ref items = Ref::Steal(PySequence_Tuple(object));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    values->push_back(0);
    if (!ParseInt(PyTuple_GET_ITEM(items.get(), i), what, &values->back())) return false;
  }
  return true;
}

bool InitDynamicSlice(PyObject* module);
bool InitRegister(PyObject* module);

bool InitTensorTypes(PyObject* module) {
  InitTensor();
  return PyType_Ready(&tensor_type) == 0 &&
         PyModule_AddObjectRef(module, "NkiTensor", reinterpret_cast<PyObject*>(&tensor_type)) ==
             0 &&
         InitDynamicSlice(module) && InitRegister(module);
}

}  // namespace wt::nki
