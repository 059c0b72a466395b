// A price as one page that stands alone: no script, nothing fetched; light and dark, wide and
// narrow. Every figure of it stands in a <data value="…"> element with the class of its JSON key.
#pragma once

#include <string>

#include "chip/machine.h"
#include "price/pricing.h"
#include "price/step_price.h"

namespace wt::price {

// `name`: the recipe, as the heading.
std::string PriceHtml(const std::string& name, const StepPrice& price, const StepSetup& setup,
                      const Pricing& pricing, const chip::Machine& machine);

}  // namespace wt::price
