// Conversions between our element types and NumPy's own, and among ours: each rounds once, to
// nearest even.
#pragma once

#include "nki/numpy/scalar.h"

namespace wt::nki::numpy {

// What NumPy stores for a type number: the bits, and how they become a float and back.
template <class Stored>
struct Element {
  static float ToFloat(Stored value) { return RoundToOdd(value); }
  static Stored FromFloat(float value) {
    if constexpr (std::integral<Stored>)
      return ToInteger<Stored>(value);
    else
      return static_cast<Stored>(value);
  }
};

struct BoolBits {  // npy_bool is also an unsigned char, which is npy_ubyte
  npy_bool bits;
};
template <>
struct Element<BoolBits> {
  static float ToFloat(BoolBits value) { return value.bits != 0; }
  static BoolBits FromFloat(float value) { return {static_cast<npy_bool>(value != 0)}; }
};

template <class Complex>
struct ComplexElement {
  static float ToFloat(Complex value) { return RoundToOdd(value.real); }
  static Complex FromFloat(float value) { return {value, 0}; }
};
template <>
struct Element<npy_cfloat> : ComplexElement<npy_cfloat> {};
template <>
struct Element<npy_cdouble> : ComplexElement<npy_cdouble> {};
template <>
struct Element<npy_clongdouble> : ComplexElement<npy_clongdouble> {};

template <class T>
concept NarrowFloat = requires(T value) {
  T(1.0f);
  value.bits;
  static_cast<float>(value);
};
template <NarrowFloat T>
struct Element<T> {
  static float ToFloat(T value) { return value; }
  static T FromFloat(float value) { return T(value); }
};

template <class From, class To>
void CastLoop(void* from, void* to, npy_intp count, void*, void*) {
  const char* in = static_cast<const char*>(from);
  char* out = static_cast<char*>(to);
  for (npy_intp i = 0; i < count; ++i, in += sizeof(From), out += sizeof(To))
    Store(out, Element<To>::FromFloat(Element<From>::ToFloat(Load<From>(in))));
}

// Both ways between T and NumPy's type `number`.
template <class T, class Other>
bool RegisterCast(int number) {
  PyArray_Descr* other = PyArray_DescrFromType(number);
  if (other == nullptr) return false;
  const bool ok = PyArray_RegisterCastFunc(&NumpyType<T>::dtype, number, CastLoop<T, Other>) >= 0 &&
                  PyArray_RegisterCastFunc(other, NumpyType<T>::number, CastLoop<Other, T>) >= 0;
  Py_DECREF(other);
  return ok;
}

template <class T>
bool RegisterBuiltinCasts() {
  return RegisterCast<T, BoolBits>(NPY_BOOL) && RegisterCast<T, npy_byte>(NPY_BYTE) &&
         RegisterCast<T, npy_ubyte>(NPY_UBYTE) && RegisterCast<T, npy_short>(NPY_SHORT) &&
         RegisterCast<T, npy_ushort>(NPY_USHORT) && RegisterCast<T, npy_int>(NPY_INT) &&
         RegisterCast<T, npy_uint>(NPY_UINT) && RegisterCast<T, npy_long>(NPY_LONG) &&
         RegisterCast<T, npy_ulong>(NPY_ULONG) && RegisterCast<T, npy_longlong>(NPY_LONGLONG) &&
         RegisterCast<T, npy_ulonglong>(NPY_ULONGLONG) && RegisterCast<T, F16>(NPY_HALF) &&
         RegisterCast<T, float>(NPY_FLOAT) && RegisterCast<T, double>(NPY_DOUBLE) &&
         RegisterCast<T, npy_longdouble>(NPY_LONGDOUBLE) &&
         RegisterCast<T, npy_cfloat>(NPY_CFLOAT) && RegisterCast<T, npy_cdouble>(NPY_CDOUBLE) &&
         RegisterCast<T, npy_clongdouble>(NPY_CLONGDOUBLE);
}

// Conversions that lose nothing, which NumPy may then make by itself when types meet.
template <class T>
bool RegisterSafeCasts(std::initializer_list<int> wider) {
  for (int number :
       {NPY_FLOAT, NPY_DOUBLE, NPY_LONGDOUBLE, NPY_CFLOAT, NPY_CDOUBLE, NPY_CLONGDOUBLE}) {
    if (PyArray_RegisterCanCast(&NumpyType<T>::dtype, number, NPY_NOSCALAR) < 0) return false;
  }
  for (int number : wider) {
    if (PyArray_RegisterCanCast(&NumpyType<T>::dtype, number, NPY_NOSCALAR) < 0) return false;
  }
  return true;
}

// NumPy's type `number` loses nothing in T.
template <class T>
bool RegisterSafeCastFrom(int number) {
  PyArray_Descr* from = PyArray_DescrFromType(number);
  if (from == nullptr) return false;
  const bool ok = PyArray_RegisterCanCast(from, NumpyType<T>::number, NPY_NOSCALAR) >= 0;
  Py_DECREF(from);
  return ok;
}

// One way: from T to each of Others, when they are different types of ours.
template <class T, class... Others>
bool RegisterOwnCasts() {
  bool ok = true;
  const auto one = [&ok]<class Other>(NumpyType<Other>*) {
    if constexpr (!std::is_same_v<T, Other>)
      ok = ok && PyArray_RegisterCastFunc(&NumpyType<T>::dtype, NumpyType<Other>::number,
                                          CastLoop<T, Other>) >= 0;
  };
  (one(static_cast<NumpyType<Others>*>(nullptr)), ...);
  return ok;
}

}  // namespace wt::nki::numpy
