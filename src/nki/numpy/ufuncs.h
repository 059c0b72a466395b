// Arithmetic, comparisons, functions and the matrix product on arrays of our element types:
// computed in float32 and rounded once an element. A reduction carries float32 along each inner
// row and rounds at its end.
#pragma once

#include <vector>

#include "nki/numpy/scalar.h"

namespace wt::nki::numpy {

using UnaryFloat = float (*)(float);
using BinaryFloat = float (*)(float, float);
using UnaryTest = bool (*)(float);
using BinaryTest = bool (*)(float, float);

template <class Function>
struct Row {
  const char* name;  // of NumPy's ufunc
  Function function;
};

inline float FloorMod(float a, float b) {
  const float rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
inline float FloorDivide(float a, float b) { return std::floor(a / b); }
inline float Maximum(float a, float b) { return std::isnan(a) || a >= b ? a : b; }
inline float Minimum(float a, float b) { return std::isnan(a) || a <= b ? a : b; }
inline float LogAddExp(float a, float b) {
  if (a == b) return a + std::log(2.0f);
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}
inline float Sign(float a) { return std::isnan(a) ? a : static_cast<float>((a > 0) - (a < 0)); }

inline constexpr Row<BinaryFloat> kBinary[] = {
    {"add", [](float a, float b) { return a + b; }},
    {"subtract", [](float a, float b) { return a - b; }},
    {"multiply", [](float a, float b) { return a * b; }},
    {"true_divide", [](float a, float b) { return a / b; }},
    {"floor_divide", FloorDivide},
    {"remainder", FloorMod},
    {"fmod", [](float a, float b) { return std::fmod(a, b); }},
    {"power", [](float a, float b) { return std::pow(a, b); }},
    {"maximum", Maximum},
    {"minimum", Minimum},
    {"fmax", [](float a, float b) { return std::fmax(a, b); }},
    {"fmin", [](float a, float b) { return std::fmin(a, b); }},
    {"copysign", [](float a, float b) { return std::copysign(a, b); }},
    {"arctan2", [](float a, float b) { return std::atan2(a, b); }},
    {"hypot", [](float a, float b) { return std::hypot(a, b); }},
    {"logaddexp", LogAddExp},
};

inline constexpr Row<UnaryFloat> kUnary[] = {
    {"negative", [](float a) { return -a; }},
    {"positive", [](float a) { return a; }},
    {"absolute", [](float a) { return std::abs(a); }},
    {"fabs", [](float a) { return std::abs(a); }},
    {"square", [](float a) { return a * a; }},
    {"sqrt", [](float a) { return std::sqrt(a); }},
    {"cbrt", [](float a) { return std::cbrt(a); }},
    {"reciprocal", [](float a) { return 1 / a; }},
    {"exp", [](float a) { return std::exp(a); }},
    {"exp2", [](float a) { return std::exp2(a); }},
    {"expm1", [](float a) { return std::expm1(a); }},
    {"log", [](float a) { return std::log(a); }},
    {"log2", [](float a) { return std::log2(a); }},
    {"log10", [](float a) { return std::log10(a); }},
    {"log1p", [](float a) { return std::log1p(a); }},
    {"sin", [](float a) { return std::sin(a); }},
    {"cos", [](float a) { return std::cos(a); }},
    {"tan", [](float a) { return std::tan(a); }},
    {"arcsin", [](float a) { return std::asin(a); }},
    {"arccos", [](float a) { return std::acos(a); }},
    {"arctan", [](float a) { return std::atan(a); }},
    {"sinh", [](float a) { return std::sinh(a); }},
    {"cosh", [](float a) { return std::cosh(a); }},
    {"tanh", [](float a) { return std::tanh(a); }},
    {"arcsinh", [](float a) { return std::asinh(a); }},
    {"arccosh", [](float a) { return std::acosh(a); }},
    {"arctanh", [](float a) { return std::atanh(a); }},
    {"floor", [](float a) { return std::floor(a); }},
    {"ceil", [](float a) { return std::ceil(a); }},
    {"trunc", [](float a) { return std::trunc(a); }},
    {"rint", [](float a) { return std::nearbyint(a); }},
    {"sign", Sign},
};

inline constexpr Row<BinaryTest> kComparisons[] = {
    {"equal", [](float a, float b) { return a == b; }},
    {"not_equal", [](float a, float b) { return a != b; }},
    {"less", [](float a, float b) { return std::isless(a, b); }},  // quiet on NaN
    {"less_equal", [](float a, float b) { return std::islessequal(a, b); }},
    {"greater", [](float a, float b) { return std::isgreater(a, b); }},
    {"greater_equal", [](float a, float b) { return std::isgreaterequal(a, b); }},
    {"logical_and", [](float a, float b) { return a != 0 && b != 0; }},
    {"logical_or", [](float a, float b) { return a != 0 || b != 0; }},
    {"logical_xor", [](float a, float b) { return (a != 0) != (b != 0); }},
};

inline constexpr Row<UnaryTest> kTests[] = {
    {"isnan", [](float a) { return std::isnan(a); }},
    {"isinf", [](float a) { return std::isinf(a); }},
    {"isfinite", [](float a) { return std::isfinite(a); }},
    {"signbit", [](float a) { return std::signbit(a); }},
    {"logical_not", [](float a) { return a == 0; }},
};

// Loops as NumPy calls them; `data` is the row's function.
template <class T, class Out, class Function>
void UnaryLoop(char** args, const npy_intp* dimensions, const npy_intp* steps, void* data) {
  const auto function = reinterpret_cast<Function>(data);
  char *in = args[0], *out = args[1];
  for (npy_intp i = 0; i < dimensions[0]; ++i, in += steps[0], out += steps[1])
    Store(out, static_cast<Out>(function(Load<T>(in))));
}

template <class T, class Out, class Function>
void BinaryLoop(char** args, const npy_intp* dimensions, const npy_intp* steps, void* data) {
  const auto function = reinterpret_cast<Function>(data);
  char *a = args[0], *b = args[1], *out = args[2];
  if constexpr (std::is_same_v<T, Out>) {
    if (a == out && steps[0] == 0 && steps[2] == 0) {  // a reduction into out
      float carried = Load<T>(out);
      for (npy_intp i = 0; i < dimensions[0]; ++i, b += steps[1])
        carried = function(carried, Load<T>(b));
      Store(out, T(carried));
      return;
    }
  }
  for (npy_intp i = 0; i < dimensions[0]; ++i, a += steps[0], b += steps[1], out += steps[2])
    Store(out, static_cast<Out>(function(Load<T>(a), Load<T>(b))));
}

// (m, k), (k, n) -> (m, n)
template <class T>
void MatmulOne(const char* a, const char* b, char* out, const npy_intp* sizes,
               const npy_intp* steps) {
  const npy_intp m = sizes[0], k = sizes[1], n = sizes[2];
  std::vector<float> right(static_cast<size_t>(k * n)), row(static_cast<size_t>(n));
  for (npy_intp i = 0; i < k; ++i)
    for (npy_intp j = 0; j < n; ++j)
      right[static_cast<size_t>(i * n + j)] = Load<T>(b + i * steps[2] + j * steps[3]);
  for (npy_intp r = 0; r < m; ++r) {
    std::fill(row.begin(), row.end(), 0.0f);
    for (npy_intp i = 0; i < k; ++i) {
      const float left = Load<T>(a + r * steps[0] + i * steps[1]);
      const float* values = right.data() + i * n;
      for (npy_intp j = 0; j < n; ++j) row[static_cast<size_t>(j)] += left * values[j];
    }
    for (npy_intp j = 0; j < n; ++j)
      Store(out + r * steps[4] + j * steps[5], T(row[static_cast<size_t>(j)]));
  }
}

template <class T>
void MatmulLoop(char** args, const npy_intp* dimensions, const npy_intp* steps, void*) {
  for (npy_intp i = 0; i < dimensions[0]; ++i)
    MatmulOne<T>(args[0] + i * steps[0], args[1] + i * steps[1], args[2] + i * steps[2],
                 dimensions + 1, steps + 3);
}

// Adds one loop to the ufunc numpy.NAME; the last of `types` is the result's.
inline bool AddLoop(PyObject* numpy, const char* name, int number, const int* types,
                    PyUFuncGenericFunction loop, void* data) {
  PyObject* ufunc = PyObject_GetAttrString(numpy, name);
  if (ufunc == nullptr) return false;
  const int done = PyUFunc_RegisterLoopForType(reinterpret_cast<PyUFuncObject*>(ufunc), number,
                                               loop, types, data);
  Py_DECREF(ufunc);
  return done >= 0;
}

template <class T, class Out, class Function, size_t n>
bool AddUnary(PyObject* numpy, const Row<Function> (&rows)[n], int result) {
  const int types[] = {NumpyType<T>::number, result};
  for (const Row<Function>& row : rows) {
    if (!AddLoop(numpy, row.name, types[0], types, UnaryLoop<T, Out, Function>,
                 reinterpret_cast<void*>(row.function)))
      return false;
  }
  return true;
}

template <class T, class Out, class Function, size_t n>
bool AddBinary(PyObject* numpy, const Row<Function> (&rows)[n], int result) {
  const int types[] = {NumpyType<T>::number, NumpyType<T>::number, result};
  for (const Row<Function>& row : rows) {
    if (!AddLoop(numpy, row.name, types[0], types, BinaryLoop<T, Out, Function>,
                 reinterpret_cast<void*>(row.function)))
      return false;
  }
  return true;
}

template <class T>
bool RegisterUfuncs(PyObject* numpy) {
  const int number = NumpyType<T>::number;
  const int types[] = {number, number, number};
  return AddBinary<T, T>(numpy, kBinary, number) && AddUnary<T, T>(numpy, kUnary, number) &&
         AddBinary<T, npy_bool>(numpy, kComparisons, NPY_BOOL) &&
         AddUnary<T, npy_bool>(numpy, kTests, NPY_BOOL) &&
         AddLoop(numpy, "matmul", number, types, MatmulLoop<T>, nullptr);
}

}  // namespace wt::nki::numpy
