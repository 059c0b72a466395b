// CPython's C API, and a reference that lets go of itself. Every file that includes this one
// includes it first, as Python.h asks.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>
#include <string_view>
#include <utility>

namespace wt::nki {

class Ref {
 public:
  Ref() = default;
  static Ref Steal(PyObject* object) { return Ref(object); }
  static Ref Borrow(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(const Ref& other) : object_(other.object_) { Py_XINCREF(object_); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Ref(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

// Gives the interpreter's lock to other threads while it lives.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { PyEval_RestoreThread(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// A str's text, "" with a Python exception set when it has none (lone surrogates).
inline std::string_view Utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text, &size);
  return data ? std::string_view(data, static_cast<size_t>(size)) : std::string_view();
}

inline PyObject* MakeString(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

// A function that takes keywords, as PyMethodDef wants it.
inline PyCFunction WithKeywords(PyObject* (*function)(PyObject*, PyObject*, PyObject*)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

// A type to be filled in before PyType_Ready.
inline PyTypeObject BlankType() {
  PyTypeObject type{};
  type.ob_base = {PyObject_HEAD_INIT(nullptr) 0};
  return type;
}

// repr(object), cut to a message's length; what its type is when repr itself fails.
std::string ReprOf(PyObject* object);
inline const char* TypeName(PyObject* object) { return Py_TYPE(object)->tp_name; }

}  // namespace wt::nki
