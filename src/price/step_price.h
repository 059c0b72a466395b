// Price of a step: seconds with an interval, where they go, and what the figure rests on.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "chip/machine.h"
#include "price/demand.h"
#include "price/hbm.h"
#include "price/kernel_prices.h"
#include "price/op_price.h"
#include "price/promotion.h"
#include "price/trust.h"

namespace wt::price {

// Seconds of a step from ideal compute to the whole; they add up to the step.
struct Waterfall {
  double ideal_compute = 0;       // products the model asks for, at the peak of bf16
  double precision = 0;           // products of fp32 operands
  double tile_waste = 0;          // masked and padded products, and the array's efficiency
  double memory_passes = 0;       // tensors through HBM
  double short_head_traffic = 0;  // tensors cut into short heads
  double gathers = 0;             // value-embedding rows
  double engines = 0;             // vector and scalar work of kernels
  double optimizer = 0;           // the update's products
  double dispatch = 0;            // host, op by op
  double fixed = 0;               // host, of every step
  double sum() const;
};
struct WaterfallRow {
  const char* name;
  double Waterfall::*member;
};
std::span<const WaterfallRow> WaterfallRows();

struct Sensitivity {
  std::string constant;
  double minus = 0, plus = 0;  // change of the step, in shares, at -10 % and +10 %
};

// What a fit needs: a step is linear in most constants. Of one core, the gathered rows of a rank.
struct Features {
  double product_s = 0;  // padded, with fp32 at its rate, at peak and efficiency 1
  double bytes = 0, head_bytes = 0;
  double gathered_rows = 0;
  double muon_flops = 0;
  double matrices = 0, scalars = 0, launches = 0;
};

struct StepPrice {
  double seconds = 0, low = 0, high = 0;
  Waterfall waterfall;
  std::vector<OpPrice> ops;
  double model_flops = 0;      // of all ranks in a step
  double rank_peak_flops = 0;  // a second, of one rank's cores in bf16
  double tokens_per_second = 0, mfu = 0;
  double steps_in_budget = 0, tokens_in_budget = 0;
  HbmUse hbm;
  Trust trust;          // the interval, and where measurements do not reach
  Promotion promotion;  // to fp32
  std::array<double, chip::kNumEvidence> evidence{};  // shares of the step
  std::vector<Sensitivity> sensitivity;
  std::vector<std::string> kernel_notes;  // checks of own kernels, ops without a kernel
  Features features;
};

// Prices `program`, one rank's step. `kernels`: what nodes take that have one; needed under
// toolchain.mode "kernels".
Result<StepPrice> PriceStep(const nn::StepProgram& program, const StepSetup& setup,
                            const Pricing& pricing, const chip::Machine& machine,
                            const KernelPrices* kernels = nullptr);

}  // namespace wt::price
