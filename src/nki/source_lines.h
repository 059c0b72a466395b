// Where in the kernel author's text we are: the first frame that is not of the nki package. Asked
// for every instruction, so places are remembered by code object and instruction offset.
#pragma once

#include "nki/python.h"
// After Python.h.
#include <array>
#include <unordered_set>

#include "chip/source.h"

namespace wt::nki {

// Files below these folders are the packages' own.
void AddPackageFolder(std::string folder);

class SourceLines {
 public:
  SourceLines() = default;
  ~SourceLines();
  SourceLines(const SourceLines&) = delete;
  SourceLines& operator=(const SourceLines&) = delete;

  chip::SourceId Here(chip::SourceTable& table);

 private:
  static constexpr chip::SourceId kOurs = ~chip::SourceId{0};
  struct Entry {
    PyObject* code = nullptr;
    int instruction = -1;
    chip::SourceId id = 0;
  };
  chip::SourceId Look(PyFrameObject* frame, PyObject* code, chip::SourceTable& table);

  std::array<Entry, 1024> cache_{};
  std::unordered_set<PyObject*> codes_;  // kept alive: their addresses are keys
};

}  // namespace wt::nki
