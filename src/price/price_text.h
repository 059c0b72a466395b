// A price for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "price/pricing.h"
#include "price/step_price.h"

namespace wt::price {

// Step, waterfall, ops by kind and place, memory, sensitivity, flags.
std::string PriceText(const StepPrice& price, const StepSetup& setup);

// Keys: step_seconds, step_seconds_low, step_seconds_high, tokens_per_second, mfu, steps_in_budget,
// tokens_in_budget, hbm_bytes_peak, hbm, waterfall, ops, flags, promotion, evidence, sensitivity,
// features.
nlohmann::ordered_json PriceJson(const StepPrice& price);

}  // namespace wt::price
