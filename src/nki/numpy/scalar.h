// The types bfloat16, float8_… of NumPy: for each of our C++ element types a scalar class (what
// array[0] gives) and a dtype with the functions that NumPy's arrays need. casts.h and ufuncs.h add
// conversions and arithmetic; module.cc puts them together as nki._numpy_dtypes.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_19_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/dtype.h"
#include "nki/numpy/rounding.h"

namespace wt::nki::numpy {

// What NumPy calls the type: `name` as ml_dtypes has it, `letter` its type character.
template <class T>
struct Naming;

template <class T>
struct Scalar {
  PyObject_HEAD T value;
};

template <class T>
struct NumpyType {
  static PyTypeObject scalar;
  static PyNumberMethods number_methods;
  static PyArray_ArrFuncs functions;
  static PyArray_Descr dtype;
  static int number;  // NumPy's, once registered
};

// Elements may lie anywhere in memory.
template <class T>
T Load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
void Store(void* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

template <class T>
PyObject* MakeScalar(T value) {
  PyTypeObject* type = &NumpyType<T>::scalar;
  PyObject* object = type->tp_alloc(type, 0);
  if (object != nullptr) reinterpret_cast<Scalar<T>*>(object)->value = value;
  return object;
}

template <class T>
T ValueOf(PyObject* object) {
  return reinterpret_cast<Scalar<T>*>(object)->value;
}

// From a number, a NumPy scalar or a text that float() takes. False: a Python error is set.
template <class T>
bool FromPython(PyObject* object, T* value) {
  if (PyObject_TypeCheck(object, &NumpyType<T>::scalar)) {
    *value = ValueOf<T>(object);
    return true;
  }
  PyObject* number = PyNumber_Float(object);
  if (number == nullptr) return false;
  *value = T(RoundToOdd(PyFloat_AS_DOUBLE(number)));
  Py_DECREF(number);
  return true;
}

template <class T>
PyObject* ScalarNew(PyTypeObject*, PyObject* args, PyObject* keywords) {
  if (keywords != nullptr && PyDict_Size(keywords) > 0) {
    PyErr_Format(PyExc_TypeError, "%s() takes no keyword arguments", Naming<T>::kName);
    return nullptr;
  }
  PyObject* given = nullptr;
  if (!PyArg_UnpackTuple(args, Naming<T>::kName, 0, 1, &given)) return nullptr;
  if (given != nullptr && PyArray_Check(given) &&
      PyArray_NDIM(reinterpret_cast<PyArrayObject*>(given)) > 0) {
    Py_INCREF(&NumpyType<T>::dtype);  // like np.float32(array): the array, converted
    return PyArray_FromAny(given, &NumpyType<T>::dtype, 0, 0, NPY_ARRAY_FORCECAST, nullptr);
  }
  T value(0.0f);
  if (given != nullptr && !FromPython(given, &value)) return nullptr;
  return MakeScalar(value);
}

// The fewest digits that give the same value again, written as Python writes a float.
template <class T>
PyObject* ScalarText(PyObject* self) {
  const float value = ValueOf<T>(self);
  double shown = value;
  for (int digits = 1; std::isfinite(value) && digits < 9; ++digits) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.*e", digits - 1, static_cast<double>(value));
    shown = std::strtod(text, nullptr);
    if (static_cast<float>(T(RoundToOdd(shown))) == value) break;
  }
  char* text = PyOS_double_to_string(shown, 'r', 0, Py_DTSF_ADD_DOT_0, nullptr);
  PyObject* result = text != nullptr ? PyUnicode_FromString(text) : PyErr_NoMemory();
  PyMem_Free(text);
  return result;
}

template <class T>
PyObject* ScalarFloat(PyObject* self) {
  return PyFloat_FromDouble(static_cast<float>(ValueOf<T>(self)));
}
template <class T>
PyObject* ScalarInt(PyObject* self) {
  return PyLong_FromDouble(static_cast<float>(ValueOf<T>(self)));
}
template <class T>
int ScalarBool(PyObject* self) {
  return static_cast<float>(ValueOf<T>(self)) != 0;
}

template <class T>
Py_hash_t ScalarHash(PyObject* self) {
  PyObject* number = ScalarFloat<T>(self);
  if (number == nullptr) return -1;
  const Py_hash_t hash = PyObject_Hash(number);
  Py_DECREF(number);
  return hash;
}

// With a number or a scalar of the same type by value; the rest is NumPy's.
template <class T>
PyObject* ScalarCompare(PyObject* self, PyObject* other, int operation) {
  if (!PyFloat_Check(other) && !PyLong_Check(other) &&
      !PyObject_TypeCheck(other, &NumpyType<T>::scalar))
    return PyGenericArrType_Type.tp_richcompare(self, other, operation);
  PyObject* left = ScalarFloat<T>(self);
  PyObject* right =
      PyObject_TypeCheck(other, &NumpyType<T>::scalar) ? ScalarFloat<T>(other) : Py_NewRef(other);
  PyObject* result = left && right ? PyObject_RichCompare(left, right, operation) : nullptr;
  Py_XDECREF(left);
  Py_XDECREF(right);
  return result;
}

// ---- what arrays of the type do ----

template <class T>
PyObject* GetItem(void* data, void*) {
  return MakeScalar(Load<T>(data));
}

template <class T>
int SetItem(PyObject* item, void* data, void*) {
  T value;
  if (!FromPython(item, &value)) return -1;
  Store(data, value);
  return 0;
}

template <class T>
void CopySwapN(void* to, npy_intp to_stride, void* from, npy_intp from_stride, npy_intp count,
               int swap, void*) {
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  for (npy_intp i = 0; i < count; ++i, out += to_stride) {
    if (in != nullptr) std::memmove(out, in + i * from_stride, sizeof(T));
    if (swap && sizeof(T) == 2) std::swap(out[0], out[1]);
  }
}

template <class T>
void CopySwap(void* to, void* from, int swap, void* array) {
  CopySwapN<T>(to, 0, from, 0, 1, swap, array);
}

template <class T>
npy_bool NonZero(void* data, void*) {
  return static_cast<float>(Load<T>(data)) != 0;
}

// np.arange: the first two elements are there, the rest continues their step.
template <class T>
int Fill(void* data, npy_intp count, void*) {
  T* values = static_cast<T*>(data);
  const float start = values[0];
  const float step = static_cast<float>(values[1]) - start;
  for (npy_intp i = 2; i < count; ++i) values[i] = T(start + static_cast<float>(i) * step);
  return 0;
}

template <class T>
void Dot(void* left, npy_intp left_stride, void* right, npy_intp right_stride, void* out,
         npy_intp count, void*) {
  const char* a = static_cast<const char*>(left);
  const char* b = static_cast<const char*>(right);
  float sum = 0;
  for (npy_intp i = 0; i < count; ++i, a += left_stride, b += right_stride)
    sum += static_cast<float>(Load<T>(a)) * static_cast<float>(Load<T>(b));
  Store(out, T(sum));
}

// Whether a stands before b in a sorted array: NaN at the end.
inline bool Before(float a, float b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

template <class T>
int Compare(const void* left, const void* right, void*) {
  const float a = Load<T>(left), b = Load<T>(right);
  return Before(a, b) ? -1 : Before(b, a) ? 1 : 0;
}

// The place of the largest (sign 1) or smallest (sign -1); the first NaN when there is one.
template <class T>
int ArgExtreme(const void* data, npy_intp count, npy_intp* place, float sign) {
  const T* values = static_cast<const T*>(data);
  *place = 0;
  float best = static_cast<float>(values[0]);
  for (npy_intp i = 1; i < count && !std::isnan(best); ++i) {
    const float value = values[i];
    if (std::isnan(value) || value * sign > best * sign) {
      best = value;
      *place = i;
    }
  }
  return 0;
}

template <class T>
int ArgMax(void* data, npy_intp count, npy_intp* place, void*) {
  return ArgExtreme<T>(data, count, place, 1);
}
template <class T>
int ArgMin(void* data, npy_intp count, npy_intp* place, void*) {
  return ArgExtreme<T>(data, count, place, -1);
}

template <class T>
PyTypeObject NumpyType<T>::scalar = {};
template <class T>
PyNumberMethods NumpyType<T>::number_methods = {};
template <class T>
PyArray_ArrFuncs NumpyType<T>::functions = {};
template <class T>
PyArray_Descr NumpyType<T>::dtype = {};
template <class T>
int NumpyType<T>::number = -1;

template <class T>
bool MakeScalarType() {
  PyNumberMethods& numbers = NumpyType<T>::number_methods;  // the rest comes from np.generic
  numbers.nb_float = ScalarFloat<T>;
  numbers.nb_int = ScalarInt<T>;
  numbers.nb_bool = ScalarBool<T>;
  PyTypeObject& type = NumpyType<T>::scalar;
  Py_SET_REFCNT(reinterpret_cast<PyObject*>(&type), 1);  // static: nobody takes the last one
  type.tp_name = Naming<T>::kQualifiedName;
  type.tp_doc = Naming<T>::kDoc;
  type.tp_basicsize = sizeof(Scalar<T>);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_base = &PyGenericArrType_Type;
  type.tp_new = ScalarNew<T>;
  type.tp_repr = type.tp_str = ScalarText<T>;
  type.tp_hash = ScalarHash<T>;
  type.tp_richcompare = ScalarCompare<T>;
  type.tp_as_number = &numbers;
  return PyType_Ready(&type) == 0;
}

template <class T>
void FillFunctions() {
  PyArray_ArrFuncs& functions = NumpyType<T>::functions;
  PyArray_InitArrFuncs(&functions);
  functions.getitem = GetItem<T>;
  functions.setitem = SetItem<T>;
  functions.copyswap = CopySwap<T>;
  functions.copyswapn = CopySwapN<T>;
  functions.nonzero = NonZero<T>;
  functions.fill = Fill<T>;
  functions.dotfunc = Dot<T>;
  functions.compare = Compare<T>;
  functions.argmax = ArgMax<T>;
  functions.argmin = ArgMin<T>;
}

// Makes scalar class and dtype and tells NumPy. False: a Python error is set.
template <class T>
bool RegisterType() {
  if (!MakeScalarType<T>()) return false;
  FillFunctions<T>();
  PyArray_Descr& dtype = NumpyType<T>::dtype;
  Py_SET_TYPE(reinterpret_cast<PyObject*>(&dtype), &PyArrayDescr_Type);
  Py_SET_REFCNT(reinterpret_cast<PyObject*>(&dtype), 1);
  dtype.typeobj = &NumpyType<T>::scalar;
  dtype.kind = 'V';  // as ml_dtypes: NumPy takes any 'f' for one of its own
  dtype.type = Naming<T>::kLetter;
  dtype.byteorder = '=';
  dtype.flags = NPY_NEEDS_PYAPI | NPY_USE_GETITEM | NPY_USE_SETITEM;
  dtype.elsize = sizeof(T);
  dtype.alignment = alignof(T);
  dtype.f = &NumpyType<T>::functions;
  dtype.hash = -1;
  NumpyType<T>::number = PyArray_RegisterDataType(&dtype);
  return NumpyType<T>::number >= 0 &&
         PyDict_SetItemString(NumpyType<T>::scalar.tp_dict, "dtype",
                              reinterpret_cast<PyObject*>(&dtype)) == 0;
}

}  // namespace wt::nki::numpy
