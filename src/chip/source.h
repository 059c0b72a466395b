// Places in a kernel's text. Instructions carry a small number; the table gives file, line and
// function.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "chip/tensor.h"

namespace wt::chip {

struct SourceLine {
  std::string file;
  int line = 0;
  std::string function;
};

class SourceTable {
 public:
  SourceTable() : lines_(1) {}  // 0: unknown
  SourceId Add(const std::string& file, int line, const std::string& function);
  const SourceLine& at(SourceId id) const { return lines_[id]; }
  size_t size() const { return lines_.size(); }
  std::string Describe(SourceId id) const;  // "matmul.py:42", "" when unknown

 private:
  std::vector<SourceLine> lines_;
  std::unordered_map<std::string, SourceId> ids_;
};

}  // namespace wt::chip
