// nki._numpy_dtypes: bfloat16 and the float8 kinds as NumPy dtypes, under the names that ml_dtypes
// gives them. nki.dtype imports it when ml_dtypes is not installed.

#include "nki/numpy/casts.h"
#include "nki/numpy/ufuncs.h"
// After Python.h.
#include <array>

namespace wt::nki::numpy {

// The 8-bit kinds as types of their own; what their bit patterns mean is looked up.
template <uint8_t (*Encode)(float), float (*Decode)(uint8_t)>
struct Float8 {
  uint8_t bits = 0;
  Float8() = default;
  explicit Float8(float value) : bits(Encode(value)) {}
  operator float() const { return kValues[bits]; }

 private:
  static std::array<float, 256> DecodeAll() {
    std::array<float, 256> values;
    for (size_t i = 0; i < values.size(); ++i) values[i] = Decode(static_cast<uint8_t>(i));
    return values;
  }
  static inline const std::array<float, 256> kValues = DecodeAll();
};
using F8E4M3 = Float8<EncodeF8E4M3, DecodeF8E4M3>;
using F8E4M3FN = Float8<EncodeF8E4M3FN, DecodeF8E4M3FN>;
using F8E5M2 = Float8<EncodeF8E5M2, DecodeF8E5M2>;
using F8E8M0 = Float8<EncodeF8E8M0, DecodeF8E8M0>;

#define WT_NAME(TYPE, NAME, LETTER, DOC)                                     \
  template <>                                                                \
  struct Naming<TYPE> {                                                      \
    static constexpr const char* kName = NAME;                               \
    static constexpr const char* kQualifiedName = "nki._numpy_dtypes." NAME; \
    static constexpr char kLetter = LETTER;                                  \
    static constexpr const char* kDoc = DOC;                                 \
  }
WT_NAME(BF16, "bfloat16", 'E', "The high half of a float32: 8 exponent bits, 7 of mantissa.");
WT_NAME(F8E4M3, "float8_e4m3", '7',
        "8 bits: 4 of exponent, 3 of mantissa, infinities; at most 240.");
WT_NAME(F8E4M3FN, "float8_e4m3fn", '4',
        "8 bits: 4 of exponent, 3 of mantissa, no infinities; at most 448.");
WT_NAME(F8E5M2, "float8_e5m2", '5',
        "8 bits: 5 of exponent, 2 of mantissa, infinities; at most 57344.");
WT_NAME(F8E8M0, "float8_e8m0fnu", 'W', "8 bits of exponent: a power of two, the scale of a block.");
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

// What NumPy may convert by itself, as nothing is lost.
bool RegisterSafe() {
  const int bf16 = NumpyType<BF16>::number;
  return RegisterSafeCasts<BF16>({}) && RegisterSafeCasts<F8E4M3>({NPY_HALF, bf16}) &&
         RegisterSafeCasts<F8E4M3FN>({NPY_HALF, bf16}) &&
         RegisterSafeCasts<F8E5M2>({NPY_HALF, bf16}) && RegisterSafeCasts<F8E8M0>({bf16}) &&
         RegisterSafeCastFrom<BF16>(NPY_BOOL) && RegisterSafeCastFrom<BF16>(NPY_BYTE) &&
         RegisterSafeCastFrom<BF16>(NPY_UBYTE) && RegisterSafeCastFrom<F8E4M3>(NPY_BOOL) &&
         RegisterSafeCastFrom<F8E4M3FN>(NPY_BOOL) && RegisterSafeCastFrom<F8E5M2>(NPY_BOOL);
}

bool FillModule(PyObject* module) {
  PyObject* numpy = PyImport_ImportModule("numpy");
  if (numpy == nullptr) return false;
  const bool ok =
      RegisterAll<BF16, F8E4M3, F8E4M3FN, F8E5M2, F8E8M0>(module, numpy) && RegisterSafe();
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
