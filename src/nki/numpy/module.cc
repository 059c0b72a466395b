// nki._numpy_dtypes: bfloat16 and the float8 kinds as NumPy dtypes, under the names that ml_dtypes
// gives them. nki.dtype imports it when ml_dtypes is not installed.

#include "nki/numpy/casts.h"
#include "nki/numpy/ufuncs.h"

namespace wt::nki::numpy {

#define WT_NAME(TYPE, NAME, LETTER, DOC)                                     \
  template <>                                                                \
  struct Naming<TYPE> {                                                      \
    static constexpr const char* kName = NAME;                               \
    static constexpr const char* kQualifiedName = "nki._numpy_dtypes." NAME; \
    static constexpr char kLetter = LETTER;                                  \
    static constexpr const char* kDoc = DOC;                                 \
  }
WT_NAME(BF16, "bfloat16", 'E', "The high half of a float32: 8 exponent bits, 7 of mantissa.");
#undef WT_NAME

namespace {

// np.dtype("bfloat16"), unless another module has taken the name.
template <class T>
bool RegisterName(PyObject* numpy) {
  PyObject* names = PyObject_GetAttrString(numpy, "sctypeDict");
  if (names == nullptr) return false;
  const bool ok = PyDict_GetItemString(names, Naming<T>::kName) != nullptr ||
                  PyDict_SetItemString(names, Naming<T>::kName,
                                       reinterpret_cast<PyObject*>(&NumpyType<T>::scalar)) == 0;
  Py_DECREF(names);
  return ok;
}

template <class T>
bool AddToModule(PyObject* module) {
  return PyModule_AddObjectRef(module, Naming<T>::kName,
                               reinterpret_cast<PyObject*>(&NumpyType<T>::scalar)) == 0;
}

template <class... Types>
bool RegisterAll(PyObject* module, PyObject* numpy) {
  // Casts name the numbers of both types, so all types come first.
  return (RegisterType<Types>() && ...) && (RegisterBuiltinCasts<Types>() && ...) &&
         (RegisterOwnCasts<Types, Types...>() && ...) && (RegisterUfuncs<Types>(numpy) && ...) &&
         (RegisterName<Types>(numpy) && ...) && (AddToModule<Types>(module) && ...);
}

bool RegisterSafe() {
  for (int number : {NPY_BOOL, NPY_BYTE, NPY_UBYTE}) {
    if (!RegisterSafeCastFrom<BF16>(number)) return false;
  }
  return RegisterSafeCasts<BF16>({});
}

bool FillModule(PyObject* module) {
  PyObject* numpy = PyImport_ImportModule("numpy");
  if (numpy == nullptr) return false;
  const bool ok = RegisterAll<BF16>(module, numpy) && RegisterSafe();
  Py_DECREF(numpy);
  return ok;
}

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_numpy_dtypes",
                          "bfloat16 and float8 kinds as NumPy dtypes.",
                          -1,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace wt::nki::numpy

PyMODINIT_FUNC PyInit__numpy_dtypes() {
  import_array();
  import_umath();
  PyObject* module = PyModule_Create(&wt::nki::numpy::definition);
  if (module != nullptr && !wt::nki::numpy::FillModule(module)) Py_CLEAR(module);
  return module;
}
