#include "nki/host_array_type.h"

#include "nki/dtype_type.h"
#include "nki/errors.h"
#include "nki/tensor_type.h"

namespace wt::nki {
namespace {

struct HostArrayObject {
  PyObject_HEAD HostArray* array;
};

PyTypeObject type = BlankType();
PyBufferProcs buffer;

HostArray& Of(PyObject* self) { return *reinterpret_cast<HostArrayObject*>(self)->array; }

void Dealloc(PyObject* self) {
  delete reinterpret_cast<HostArrayObject*>(self)->array;
  PyObject_Free(self);
}

int GetBufferOf(PyObject* self, Py_buffer* view, int flags) {
  HostArray& array = Of(self);
  return PyBuffer_FillInfo(view, self, array.bytes.data(),
                           static_cast<Py_ssize_t>(array.bytes.size()), 0, flags);
}

PyObject* GetShape(PyObject* self, void*) {
  const HostArray& array = Of(self);
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(array.shape.size()));
  for (size_t i = 0; tuple && i < array.shape.size(); ++i) {
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(array.shape[i]));
  }
  return tuple;
}
PyObject* GetDType(PyObject* self, void*) { return Py_NewRef(DTypeObject(Of(self).dtype)); }
PyObject* GetHasValues(PyObject* self, void*) { return PyBool_FromLong(!Of(self).bytes.empty()); }

PyGetSetDef getters[] = {
    {"shape", GetShape, nullptr, "Sizes of the dimensions.", nullptr},
    {"dtype", GetDType, nullptr, "The element type.", nullptr},
    {"has_values", GetHasValues, nullptr, "False: only shape and type are known.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* Repr(PyObject* self) {
  const Ref shape = Ref::Steal(GetShape(self, nullptr));
  return shape ? PyUnicode_FromFormat("<HostArray %R %S>", shape.get(), DTypeObject(Of(self).dtype))
               : nullptr;
}

}  // namespace

bool InitHostArray(PyObject* module) {
  type.tp_name = "nki.HostArray";
  type.tp_basicsize = sizeof(HostArrayObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_doc = "An array on the host; numpy.frombuffer reads its bytes.";
  type.tp_dealloc = Dealloc;
  type.tp_getset = getters;
  type.tp_repr = Repr;
  buffer.bf_getbuffer = GetBufferOf;
  type.tp_as_buffer = &buffer;
  return PyType_Ready(&type) == 0 &&
         PyModule_AddObjectRef(module, "HostArray", reinterpret_cast<PyObject*>(&type)) == 0;
}

PyObject* NewHostArray(HostArray array) {
  auto* self = PyObject_New(HostArrayObject, &type);
  if (!self) return nullptr;
  self->array = new HostArray(std::move(array));
  return reinterpret_cast<PyObject*>(self);
}

HostArray* AsHostArray(PyObject* object) {
  return Py_TYPE(object) == &type ? &Of(object) : nullptr;
}

}  // namespace wt::nki
