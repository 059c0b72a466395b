// tests/nki/fuzz_calls.py inside this program, which the sanitizers watch.
#include "nki/interpreter.h"
// After Python.h.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

// What the interpreter interned stays until the process ends.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace wt::nki {
namespace {

// A block of its own for every Python object, so that a sanitizer sees where each one ends.
const bool kPlainMalloc = setenv("PYTHONMALLOC", "malloc", 0) == 0;

// import fuzz_calls; fuzz_calls.main(seed, rounds)
Status Fuzz(int seed, int rounds) {
  WT_RETURN_IF_ERROR(Interpreter::Start());
  const Interpreter python;
  PyObject* path = PySys_GetObject("path");
  const Ref folder = Ref::Steal(MakeString(WT_SOURCE_DIR "/tests/nki"));
  if (!path || PyList_Append(path, folder.get()) < 0) return PythonError("sys.path");
  const Ref module = Ref::Steal(PyImport_ImportModule("fuzz_calls"));
  if (!module) return PythonError("import");
  const Ref result = Ref::Steal(PyObject_CallMethod(module.get(), "main", "ii", seed, rounds));
  return result ? Status() : PythonError("fuzz_calls");
}

TEST(FuzzTest, AnythingIsAnswered) {
  // The script prints its seed, which repeats a run.
  const bool long_run = std::getenv("WT_FUZZ_SECONDS") != nullptr;
  const Status status = Fuzz(long_run ? static_cast<int>(time(nullptr)) : 1, 60);
  EXPECT_TRUE(status.ok()) << status.message();
}

}  // namespace
}  // namespace wt::nki
