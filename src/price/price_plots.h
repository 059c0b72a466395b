// The drawings of a price's page, each one SVG element.
#pragma once

#include <string>

#include "price/step_price.h"

namespace wt::price {

// What the roofs of a rank are.
struct Roofs {
  double bytes_per_s = 0, flops_per_s = 0;
};

std::string WaterfallPlot(const StepPrice& price);
// Groups of ops that multiply, by FLOPs a byte and FLOPs a second; the area shows their time.
std::string RooflinePlot(const StepPrice& price, const Roofs& roofs);
std::string SensitivityPlot(const StepPrice& price);
std::string HbmPlot(const HbmUse& hbm);

}  // namespace wt::price
