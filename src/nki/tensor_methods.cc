// The view methods of NkiTensor: Python arguments to view.h and back.
#include "nki/dtype_type.h"
#include "nki/errors.h"
#include "nki/tensor_type.h"

namespace wt::nki {
namespace {

using chip::ErrorClass;

PyObject* Finish(PyObject* self, const Status& status, const View& view) {
  return status.ok() ? NewView(view, AsTensor(self)->index) : Raise(status);
}

// Parses arguments by PyArg's format into objects.
template <class... Out>
bool Parse(PyObject* arguments, PyObject* keywords, const char* format, const char** names,
           Out... out) {
  return PyArg_ParseTupleAndKeywords(arguments, keywords, format, const_cast<char**>(names),
                                     out...) != 0;
}

PyObject* SliceMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"dim", "start", "end", "step", nullptr};
  PyObject *dim = nullptr, *start = nullptr, *end = nullptr, *step = nullptr;
  int64_t d = 0, from = 0, to = 0, by = 1;
  if (!Parse(arguments, keywords, "OOO|O:slice", names, &dim, &start, &end, &step) ||
      !ParseInt(dim, "slice: dim", &d) || !ParseInt(start, "slice: start", &from) ||
      !ParseInt(end, "slice: end", &to) || (step && !ParseInt(step, "slice: step", &by))) {
    return nullptr;
  }
  View view;
  const Status status = Slice(AsTensor(self)->view, d, from, to, by, &view);
  return Finish(self, status, view);
}

PyObject* SelectMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"dim", "index", nullptr};
  PyObject *dim = nullptr, *index = nullptr;
  int64_t d = 0, at = 0;
  if (!Parse(arguments, keywords, "OO:select", names, &dim, &index) ||
      !ParseInt(dim, "select: dim", &d)) {
    return nullptr;
  }
  View view;
  if (IsTensor(index) || IsRegister(index)) {
    const Status status = DynamicSelect(AsTensor(self)->view, d, &view);
    return status.ok() ? NewView(view, index) : Raise(status);
  }
  if (!ParseInt(index, "select: index", &at)) return nullptr;
  const Status status = Select(AsTensor(self)->view, d, at, &view);
  return Finish(self, status, view);
}

PyObject* VectorSelectMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"dim", "vector_offset", nullptr};
  PyObject *dim = nullptr, *offsets = nullptr;
  int64_t d = 0;
  if (!Parse(arguments, keywords, "OO:vector_select", names, &dim, &offsets) ||
      !ParseInt(dim, "vector_select: dim", &d)) {
    return nullptr;
  }
  if (!IsTensor(offsets)) {
    return RaiseKernelError(ErrorClass::kArgument,
                            "vector_select: vector_offset is {}; expected an SBUF tensor",
                            DescribeOperand(offsets));
  }
  View view;
  const Status status = VectorSelect(AsTensor(self)->view, d, AsTensor(offsets)->view, &view);
  return status.ok() ? NewView(view, offsets) : Raise(status);
}

PyObject* PermuteMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"dims", nullptr};
  PyObject* dims = nullptr;
  std::vector<int64_t> order;
  if (!Parse(arguments, keywords, "O:permute", names, &dims) ||
      !ParseInts(dims, "permute: dims", &order)) {
    return nullptr;
  }
  View view;
  const Status status = Permute(AsTensor(self)->view, order, &view);
  return Finish(self, status, view);
}

PyObject* BroadcastMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"dim", "size", nullptr};
  PyObject *dim = nullptr, *size = nullptr;
  int64_t d = 0, n = 0;
  if (!Parse(arguments, keywords, "OO:broadcast", names, &dim, &size) ||
      !ParseInt(dim, "broadcast: dim", &d) || !ParseInt(size, "broadcast: size", &n)) {
    return nullptr;
  }
  View view;
  const Status status = Broadcast(AsTensor(self)->view, d, n, &view);
  return Finish(self, status, view);
}

PyObject* ExpandDimMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"dim", nullptr};
  PyObject* dim = nullptr;
  int64_t d = 0;
  if (!Parse(arguments, keywords, "O:expand_dim", names, &dim) ||
      !ParseInt(dim, "expand_dim: dim", &d)) {
    return nullptr;
  }
  View view;
  const Status status = ExpandDim(AsTensor(self)->view, d, &view);
  return Finish(self, status, view);
}

PyObject* SqueezeDimMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"dim", nullptr};
  PyObject* dim = nullptr;
  int64_t d = 0;
  if (!Parse(arguments, keywords, "O:squeeze_dim", names, &dim) ||
      !ParseInt(dim, "squeeze_dim: dim", &d)) {
    return nullptr;
  }
  View view;
  const Status status = SqueezeDim(AsTensor(self)->view, d, &view);
  return Finish(self, status, view);
}

PyObject* ReshapeDimMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"dim", "shape", nullptr};
  PyObject *dim = nullptr, *shape = nullptr;
  int64_t d = 0;
  std::vector<int64_t> sizes;
  if (!Parse(arguments, keywords, "OO:reshape_dim", names, &dim, &shape) ||
      !ParseInt(dim, "reshape_dim: dim", &d) || !ParseInts(shape, "reshape_dim: shape", &sizes)) {
    return nullptr;
  }
  View view;
  const Status status = ReshapeDim(AsTensor(self)->view, d, sizes, &view);
  return Finish(self, status, view);
}

PyObject* FlattenDimsMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"start_dim", "end_dim", nullptr};
  PyObject *start = nullptr, *end = nullptr;
  int64_t first = 0, last = 0;
  if (!Parse(arguments, keywords, "OO:flatten_dims", names, &start, &end) ||
      !ParseInt(start, "flatten_dims: start_dim", &first) ||
      !ParseInt(end, "flatten_dims: end_dim", &last)) {
    return nullptr;
  }
  View view;
  const Status status = FlattenDims(AsTensor(self)->view, first, last, &view);
  return Finish(self, status, view);
}

// reshape((a, b)), reshape(shape=(a, b)) and, as NumPy allows, reshape(a, b).
PyObject* ReshapeMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"shape", nullptr};
  PyObject* shape = nullptr;
  if (PyTuple_GET_SIZE(arguments) > 1 && !keywords) {
    shape = arguments;
  } else if (!Parse(arguments, keywords, "O:reshape", names, &shape)) {
    return nullptr;
  }
  std::vector<int64_t> sizes;
  if (!ParseInts(shape, "reshape: shape", &sizes)) return nullptr;
  View view;
  const Status status = Reshape(AsTensor(self)->view, sizes, &view);
  return Finish(self, status, view);
}

PyObject* FlattenMethod(PyObject* self, PyObject*) {
  View view;
  const int64_t size = AsTensor(self)->view.size();
  const Status status = Reshape(AsTensor(self)->view, std::span(&size, 1), &view);
  return Finish(self, status, view);
}

PyObject* ViewMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"dtype", nullptr};
  PyObject* object = nullptr;
  DType dtype;
  if (!Parse(arguments, keywords, "O:view", names, &object) ||
      !ParseDTypeObject(object, "view: dtype", &dtype)) {
    return nullptr;
  }
  View view;
  const Status status = Reinterpret(AsTensor(self)->view, dtype, &view);
  return Finish(self, status, view);
}

bool ParseGroups(PyObject* object, const char* what, AxisGroups* groups) {
  const auto bad = [&] {
    RaiseKernelError(ErrorClass::kArgument,
                     "rearrange: {} is {}; expected names and groups of names: ('b', ('h', 'w'))",
                     what, ReprOf(object));
    return false;
  };
  if (!PyTuple_Check(object) && !PyList_Check(object)) return bad();
  const Ref items = Ref::Steal(PySequence_Tuple(object));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.get(), i);
    groups->emplace_back();
    if (PyUnicode_Check(item)) {
      groups->back().emplace_back(Utf8(item));
      continue;
    }
    if (!PyTuple_Check(item) && !PyList_Check(item)) return bad();
    for (Py_ssize_t j = 0; j < PySequence_Fast_GET_SIZE(item); ++j) {
      PyObject* name = PySequence_Fast_GET_ITEM(item, j);
      if (!PyUnicode_Check(name)) return bad();
      groups->back().emplace_back(Utf8(name));
    }
  }
  return !PyErr_Occurred();
}

bool ParseSizes(PyObject* object, std::vector<std::pair<std::string, int64_t>>* sizes) {
  if (!object || object == Py_None) return true;
  if (!PyDict_Check(object)) {
    RaiseKernelError(ErrorClass::kArgument,
                     "rearrange: fixed_sizes is {}; expected a dict of sizes by name",
                     ReprOf(object));
    return false;
  }
  const Ref items = Ref::Steal(PyDict_Items(object));
  for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyList_GET_ITEM(items.get(), i);
    PyObject* name = PyTuple_GET_ITEM(item, 0);
    int64_t size = 0;
    if (!PyUnicode_Check(name)) {
      RaiseKernelError(ErrorClass::kArgument, "rearrange: {} in fixed_sizes is no name",
                       ReprOf(name));
      return false;
    }
    const std::string text(Utf8(name));
    if (!ParseInt(PyTuple_GET_ITEM(item, 1), "rearrange: a fixed size", &size)) return false;
    sizes->emplace_back(text, size);
  }
  return items && !PyErr_Occurred();
}

PyObject* RearrangeMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"src_pattern", "dst_pattern", "fixed_sizes", nullptr};
  PyObject *from = nullptr, *to = nullptr, *fixed = nullptr;
  AxisGroups from_groups, to_groups;
  std::vector<std::pair<std::string, int64_t>> sizes;
  if (!Parse(arguments, keywords, "OO|O:rearrange", names, &from, &to, &fixed) ||
      !ParseGroups(from, "src_pattern", &from_groups) ||
      !ParseGroups(to, "dst_pattern", &to_groups) || !ParseSizes(fixed, &sizes)) {
    return nullptr;
  }
  View view;
  const Status status = Rearrange(AsTensor(self)->view, from_groups, to_groups, sizes, &view);
  return Finish(self, status, view);
}

// [[stride, size], …]
bool ParsePattern(PyObject* object, std::vector<chip::Dim>* pattern) {
  const auto bad = [&] {
    RaiseKernelError(ErrorClass::kArgument,
                     "ap: pattern is {}; expected pairs [[stride, size], …] of integers",
                     ReprOf(object));
    return false;
  };
  if (!PyTuple_Check(object) && !PyList_Check(object)) return bad();
  const Ref pairs = Ref::Steal(PySequence_Tuple(object));
  if (!pairs) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(pairs.get()); ++i) {
    PyObject* pair = PyTuple_GET_ITEM(pairs.get(), i);
    if (!PyTuple_Check(pair) && !PyList_Check(pair)) return bad();
    std::vector<int64_t> numbers;
    if (!ParseInts(pair, "ap: pattern", &numbers)) return false;
    if (numbers.size() != 2) return bad();
    pattern->push_back({numbers[0], numbers[1]});
  }
  return true;
}

bool Given(PyObject* object) { return object && object != Py_None; }

// Which of scalar_offset and vector_offset there is.
bool ParseOffsets(PyObject* scalar, PyObject* vector, ApArguments* ap, PyObject** index) {
  if (Given(scalar) && Given(vector)) {
    RaiseKernelError(ErrorClass::kArgument,
                     "ap: scalar_offset and vector_offset are both given; expected one of them");
    return false;
  }
  if (Given(scalar)) {
    ap->indirect = Indirect::kScalar;
    *index = scalar;
    if (IsTensor(scalar) || IsRegister(scalar)) return true;
    RaiseKernelError(
        ErrorClass::kArgument,
        "ap: scalar_offset is {}; expected a register or a [1, 1] SBUF tensor; offset= "
        "takes integers",
        DescribeOperand(scalar));
    return false;
  }
  if (!Given(vector)) return true;
  ap->indirect = Indirect::kVector;
  *index = vector;
  if (IsTensor(vector)) return true;
  RaiseKernelError(ErrorClass::kArgument,
                   "ap: vector_offset is {}; expected an SBUF tensor of shape (partitions, 1)",
                   DescribeOperand(vector));
  return false;
}

PyObject* ApMethod(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"pattern",      "offset", "scalar_offset", "vector_offset",
                                "indirect_dim", "dtype",  nullptr};
  PyObject *pattern = nullptr, *offset = nullptr, *scalar = nullptr, *vector = nullptr,
           *dim = nullptr, *dtype = nullptr, *index = nullptr;
  ApArguments ap;
  if (!Parse(arguments, keywords, "O|OOOOO:ap", names, &pattern, &offset, &scalar, &vector, &dim,
             &dtype) ||
      !ParsePattern(pattern, &ap.pattern) || !ParseOffsets(scalar, vector, &ap, &index) ||
      (Given(dim) && !ParseInt(dim, "ap: indirect_dim", &ap.indirect_dim))) {
    return nullptr;
  }
  if (Given(offset) && !ParseInt(offset, "ap: offset", &ap.offset.emplace())) return nullptr;
  if (Given(dtype) && !ParseDTypeObject(dtype, "ap: dtype", &ap.dtype.emplace())) return nullptr;
  View view;
  const Status status = Ap(AsTensor(self)->view, ap, &view);
  return status.ok() ? NewView(view, index) : Raise(status);
}

PyObject* IndirectMethod(PyObject* self, PyObject*, PyObject*) {
  return RaiseKernelError(
      ErrorClass::kGeneration,
      "indirect: tensor indirection of {} exists from NeuronCore-v4 on, and this "
      "simulator does not do it; use nc_n_gather or local_gather",
      Describe(AsTensor(self)->view));
}

PyObject* GetPattern(PyObject* self, PyObject*) {
  const View& view = AsTensor(self)->view;
  PyObject* list = PyList_New(view.rank);
  for (int i = 0; list && i < view.rank; ++i) {
    PyObject* pair = Py_BuildValue("[LL]", static_cast<long long>(view.strides[i]),
                                   static_cast<long long>(view.shape[i]));
    if (!pair) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, i, pair);
  }
  return list;
}

PyObject* IsContiguousMethod(PyObject* self, PyObject*) {
  return PyBool_FromLong(IsContiguous(AsTensor(self)->view));
}
PyObject* IsIndirectMethod(PyObject* self, PyObject*) {
  return PyBool_FromLong(AsTensor(self)->view.indirect != Indirect::kNone);
}

using Keywords = PyObject* (*)(PyObject*, PyObject*, PyObject*);
PyMethodDef Row(const char* name, Keywords function, const char* doc) {
  return {name, WithKeywords(function), METH_VARARGS | METH_KEYWORDS, doc};
}

}  // namespace

PyMethodDef tensor_methods[] = {
    Row("slice", SliceMethod, "slice(dim, start, end, step=1): part of one dimension."),
    Row("select", SelectMethod,
        "select(dim, index): one element of a dimension, which goes. The index may be a register."),
    Row("vector_select", VectorSelectMethod,
        "vector_select(dim, vector_offset): a row of an HBM tensor for each partition."),
    Row("permute", PermuteMethod, "permute(dims): the dimensions in another order."),
    Row("broadcast", BroadcastMethod, "broadcast(dim, size): repeats a dimension of size 1."),
    Row("expand_dim", ExpandDimMethod, "expand_dim(dim): a new dimension of size 1."),
    Row("squeeze_dim", SqueezeDimMethod, "squeeze_dim(dim): without a dimension of size 1."),
    Row("reshape_dim", ReshapeDimMethod, "reshape_dim(dim, shape): one dimension as several."),
    Row("flatten_dims", FlattenDimsMethod,
        "flatten_dims(start_dim, end_dim): several dimensions as one."),
    Row("reshape", ReshapeMethod, "reshape(shape): the same elements in another shape."),
    {"flatten", FlattenMethod, METH_NOARGS, "flatten(): the same elements in one dimension."},
    Row("rearrange", RearrangeMethod,
        "rearrange(src_pattern, dst_pattern, fixed_sizes=None): splits, permutes and merges "
        "dimensions by name."),
    Row("view", ViewMethod, "view(dtype): the same bytes as another element type."),
    Row("reinterpret_cast", ViewMethod, "Another name of view."),
    Row("ap", ApMethod,
        "ap(pattern, offset=None, scalar_offset=None, vector_offset=None, indirect_dim=0, "
        "dtype=None): an access pattern of the storage, [[stride, size], …]."),
    Row("indirect", IndirectMethod, "indirect(index, num_elem=None): NeuronCore-v4 only."),
    {"get_pattern", GetPattern, METH_NOARGS, "[[stride, size], …] of the view."},
    {"is_contiguous", IsContiguousMethod, METH_NOARGS,
     "Whether the elements are dense (on chip: within a partition)."},
    {"is_indirect", IsIndirectMethod, METH_NOARGS,
     "Whether an index known only at run time takes part."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace wt::nki
