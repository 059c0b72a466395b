#include "nki/source_lines.h"

namespace wt::nki {
namespace {

std::vector<std::string>& PackageFolders() {
  static std::vector<std::string> folders;
  return folders;
}

}  // namespace

void AddPackageFolder(std::string folder) { PackageFolders().push_back(std::move(folder)); }

SourceLines::~SourceLines() {
  for (PyObject* code : codes_) Py_DECREF(code);
}

chip::SourceId SourceLines::Look(PyFrameObject* frame, PyObject* code, chip::SourceTable& table) {
  if (codes_.insert(code).second) Py_INCREF(code);
  const auto* object = reinterpret_cast<PyCodeObject*>(code);
  const std::string file(Utf8(object->co_filename));
  const std::string function(Utf8(object->co_qualname));
  if (PyErr_Occurred()) PyErr_Clear();
  for (const std::string& folder : PackageFolders()) {
    if (file.starts_with(folder)) return kOurs;
  }
  return table.Add(file, PyFrame_GetLineNumber(frame), function);
}

chip::SourceId SourceLines::Here(chip::SourceTable& table) {
  Ref frame = Ref::Borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame) {
    auto* raw = reinterpret_cast<PyFrameObject*>(frame.get());
    const Ref code = Ref::Steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(raw)));
    const int instruction = PyFrame_GetLasti(raw);
    const size_t hash = (reinterpret_cast<size_t>(code.get()) >> 5) ^
                        (static_cast<size_t>(instruction) * 0x9e3779b1u >> 3);
    Entry& entry = cache_[hash % cache_.size()];
    if (entry.code != code.get() || entry.instruction != instruction) {
      entry = {code.get(), instruction, Look(raw, code.get(), table)};
    }
    if (entry.id != kOurs) return entry.id;
    frame = Ref::Steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(raw)));
  }
  return 0;
}

}  // namespace wt::nki
