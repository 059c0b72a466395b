// PriceList: what work costs on the machine that a run rehearses for. A priced clock charges it.
#pragma once

#include <string>

#include "base/status.h"
#include "train/work.h"

namespace wt::train {

struct WorkPrice {
  double seconds = 0;
  // What has to be compiled before such work is done for the first time; empty: nothing.
  std::string program;
  double compile_seconds = 0;
};

class PriceList {
 public:
  virtual ~PriceList() = default;
  // Equal work has equal prices.
  virtual Result<WorkPrice> PriceOf(const Work& work) = 0;
};

}  // namespace wt::train
