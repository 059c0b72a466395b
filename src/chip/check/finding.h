// What the checks that watch a whole kernel report: an error class, one sentence, and the places in
// the kernel's text. Findings do not stop the kernel.
#pragma once

#include <string>
#include <vector>

#include "chip/error_class.h"
#include "chip/source.h"

namespace wt::chip {

struct Finding {
  ErrorClass error_class = ErrorClass::kInternal;
  std::string text;
  SourceId source = 0;
  SourceId other = 0;  // the second place, when there are two
  int64_t count = 1;   // how often, at these places
};

// Findings of the same class and places are counted, not repeated.
class Findings {
 public:
  void Add(Finding finding);
  const std::vector<Finding>& all() const { return all_; }

 private:
  std::vector<Finding> all_;
};

}  // namespace wt::chip
