#include "price/step_price.h"

#include <algorithm>

#include "nn/op.h"
#include "price/host.h"

namespace wt::price {
namespace {

constexpr WaterfallRow kWaterfall[] = {
    {"ideal_compute", &Waterfall::ideal_compute},
    {"precision", &Waterfall::precision},
    {"tile_waste", &Waterfall::tile_waste},
    {"memory_passes", &Waterfall::memory_passes},
    {"short_head_traffic", &Waterfall::short_head_traffic},
    {"gathers", &Waterfall::gathers},
    {"engines", &Waterfall::engines},
    {"optimizer", &Waterfall::optimizer},
    {"dispatch", &Waterfall::dispatch},
    {"fixed", &Waterfall::fixed},
};

// Turns demands into seconds under one set of constants.
class Pricer {
 public:
  Pricer(const StepDemand& demand, const StepSetup& setup, const Constants& constants,
         const chip::Machine& machine, const KernelPrices* kernels)
      : demand_(demand),
        setup_(setup),
        c_(constants),
        kernels_(kernels),
        cores_(static_cast<double>(setup.machine.lnc)),
        peak_(machine.peak_tflops_bf16 * 1e12) {}

  KernelPrice Price(const Demand& d) const {
    KernelPrice price;
    price.flops = d.model_flops;
    price.bytes = d.bytes;
    if (const NodeKernel* kernel = KernelOf(d)) return PriceKernel(d, *kernel, price);
    if (d.update) {
      price.products_s = d.padded_flops / (c_.muon_flops_per_s * cores_) / UpdateShards();
      return price;
    }
    price.products_s = ArraySeconds(d, d.padded_flops) / c_.pe_efficiency;
    price.memory_s = (d.bytes - d.head_bytes) / (c_.pass_bytes_per_s * cores_);
    price.short_heads_s = d.head_bytes / (c_.head_bytes_per_s * cores_);
    price.gather_s = d.gathered_rows * c_.gather_s;
    return price;
  }

  const NodeKernel* KernelOf(const Demand& d) const {
    return kernels_ && kernels_->nodes[d.node] ? &*kernels_->nodes[d.node] : nullptr;
  }

  Waterfall Fall() const {
    Waterfall fall;
    for (const Demand& d : demand_.nodes) Add(d, &fall);
    const HostTime host = PriceHost(demand_, setup_, c_, fall.sum());
    fall.fixed = host.fixed;
    fall.dispatch = host.dispatch;
    return fall;
  }

 private:
  double ArraySeconds(const Demand& d, double flops) const {
    return flops * (d.fp32_products ? c_.fp32_slowdown : 1) / (peak_ * cores_);
  }
  double UpdateShards() const {
    return setup_.sharding == Sharding::kNone ? 1 : static_cast<double>(setup_.machine.ranks);
  }
  // All of a kernel's time counts for the engine that is busy longest.
  KernelPrice PriceKernel(const Demand& d, const NodeKernel& kernel, KernelPrice price) const {
    const bool split = d.model_flops > 0 || setup_.sharding != Sharding::kMuon;
    const double seconds = kernel.seconds / (d.update && split ? UpdateShards() : 1);
    price.bytes = kernel.bytes;
    if (kernel.busiest == chip::Engine::kTensor) {
      price.products_s = seconds;
    } else if (kernel.busiest == chip::Engine::kDma) {
      price.memory_s = seconds;
    } else {
      price.engines_s = seconds;
    }
    return price;
  }
  void Add(const Demand& d, Waterfall* fall) const {
    const KernelPrice price = Price(d);
    if (d.update) {
      fall->optimizer += d.times * price.seconds();
      return;
    }
    const double ideal = d.model_flops / (peak_ * cores_);
    double slow = ArraySeconds(d, d.model_flops) - ideal;
    if (KernelOf(d)) {
      slow = std::clamp(price.seconds() - ideal, 0.0, slow);
      AddKernel(d, price, ideal, slow, fall);
      return;
    }
    fall->ideal_compute += d.times * ideal;
    fall->precision += d.times * slow;
    fall->tile_waste += d.times * (price.products_s - ideal - slow);
    fall->memory_passes += d.times * price.memory_s;
    fall->short_head_traffic += d.times * price.short_heads_s;
    fall->gathers += d.times * price.gather_s;
  }

  // What is left after the products' ideal time is the share of the busiest engine.
  void AddKernel(const Demand& d, const KernelPrice& price, double ideal, double slow,
                 Waterfall* fall) const {
    fall->ideal_compute += d.times * ideal;
    fall->precision += d.times * slow;
    const double rest = d.times * (price.seconds() - ideal - slow);
    (price.products_s > 0 ? fall->tile_waste
     : price.memory_s > 0 ? fall->memory_passes
                          : fall->engines) += rest;
  }

  const StepDemand& demand_;
  const StepSetup& setup_;
  const Constants& c_;
  const KernelPrices* kernels_;
  double cores_, peak_;
};

Features CountFeatures(const StepDemand& demand, const StepSetup& setup, const Constants& constants,
                       const chip::Machine& machine) {
  Features f;
  const double cores = static_cast<double>(setup.machine.lnc);
  for (const Demand& d : demand.nodes) {
    if (d.update) {
      f.muon_flops += d.padded_flops / cores;
      continue;
    }
    const double slow = d.fp32_products ? constants.fp32_slowdown : 1;
    f.product_s += d.times * d.padded_flops * slow / (machine.peak_tflops_bf16 * 1e12 * cores);
    f.bytes += d.times * d.bytes / cores;
    f.head_bytes += d.times * d.head_bytes / cores;
    f.gathered_rows += d.times * d.gathered_rows;
  }
  for (const Demand& d : demand.nodes) f.launches += d.times * d.rule->launches;
  f.matrices = static_cast<double>(demand.muon_matrices);
  f.scalars = setup.scalars == Scalars::kEach ? static_cast<double>(demand.scalar_tensors) : 0;
  return f;
}

std::vector<Sensitivity> Vary(const StepDemand& demand, const StepSetup& setup,
                              const Pricing& pricing, const chip::Machine& machine,
                              const KernelPrices* kernels, double seconds) {
  std::vector<Sensitivity> rows;
  for (const ConstantKey& key : ConstantKeys()) {
    const auto change = [&](double factor) {
      Constants constants = pricing.constants;
      constants.*key.member *= factor;
      return Pricer(demand, setup, constants, machine, kernels).Fall().sum() / seconds - 1;
    };
    rows.push_back({key.name, change(0.9), change(1.1)});
  }
  return rows;
}

chip::Evidence HostEvidence(const Pricing& pricing) {
  for (const Constant& row : pricing.rows) {
    if (row.id == "step_host_s") return row.origin.evidence;
  }
  return chip::Evidence::kGuessed;
}

void AddOps(const nn::StepProgram& program, const StepDemand& demand, const Pricer& pricer,
            const Pricing& pricing, StepPrice* price) {
  for (const Demand& d : demand.nodes) {
    const nn::Node& node = program.nodes[d.node];
    OpPrice op;
    op.op = node.op->name;
    op.scope = node.scope;
    op.phase = node.phase;
    op.times = d.times;
    op.each = pricer.Price(d);
    op.waste = d.padded_flops > 0 ? std::max(0.0, 1 - d.model_flops / d.padded_flops) : 0;
    op.fp32_products = d.fp32_products && d.model_flops > 0;
    op.evidence = d.rule->origin.evidence;
    if (const NodeKernel* kernel = pricer.KernelOf(d)) {
      op.kernel = kernel->kernel;
      op.basis = kernel->basis;
      op.waste = 0;
      op.evidence = chip::Evidence::kDerived;
    }
    price->evidence[static_cast<size_t>(op.evidence)] += op.seconds() / price->seconds;
    price->ops.push_back(std::move(op));
  }
  const double host = price->waterfall.fixed + price->waterfall.dispatch;
  price->evidence[static_cast<size_t>(HostEvidence(pricing))] += host / price->seconds;
}

void AddRates(const StepDemand& demand, const StepSetup& setup, const chip::Machine& machine,
              StepPrice* price) {
  const auto ranks = static_cast<double>(setup.machine.ranks);
  const double cores = ranks * static_cast<double>(setup.machine.lnc);
  price->rank_peak_flops = machine.peak_tflops_bf16 * 1e12 * static_cast<double>(setup.machine.lnc);
  price->model_flops = demand.model_flops * ranks;
  price->tokens_per_second = static_cast<double>(setup.tokens_per_step) / price->seconds;
  price->mfu = price->model_flops / price->seconds / (machine.peak_tflops_bf16 * 1e12 * cores);
  price->steps_in_budget = std::floor(setup.budget / price->seconds);
  price->tokens_in_budget = price->steps_in_budget * static_cast<double>(setup.tokens_per_step);
}

}  // namespace

double Waterfall::sum() const {
  double total = 0;
  for (const WaterfallRow& row : kWaterfall) total += this->*row.member;
  return total;
}
std::span<const WaterfallRow> WaterfallRows() { return kWaterfall; }

const char* BoundName(Bound bound) {
  constexpr std::array kNames = {"products", "memory",         "short heads",
                                 "gather",   "vector, scalar", "update"};
  return kNames[static_cast<size_t>(bound)];
}

Bound KernelPrice::bound() const {
  const std::array<double, 5> parts = {products_s, memory_s, short_heads_s, gather_s, engines_s};
  return static_cast<Bound>(std::max_element(parts.begin(), parts.end()) - parts.begin());
}

Result<StepPrice> PriceStep(const nn::StepProgram& program, const StepSetup& setup,
                            const Pricing& pricing, const chip::Machine& machine,
                            const KernelPrices* kernels) {
  if (setup.toolchain.mode == Mode::kKernels && !kernels) {
    return Error(Code::kUnsupported,
                 "toolchain.mode is \"kernels\", and no times of kernels are given; give those of "
                 "PriceKernels");
  }
  const StepDemand demand = CountDemand(program, setup, pricing);
  const Pricer pricer(demand, setup, pricing.constants, machine, kernels);
  StepPrice price;
  price.waterfall = pricer.Fall();
  price.seconds = price.waterfall.sum();
  AddOps(program, demand, pricer, pricing, &price);
  AddRates(demand, setup, machine, &price);
  price.hbm = CountHbm(program, setup, machine);
  price.promotion = FindPromotion(program, price.ops, pricing.constants);
  price.trust = JudgeTrust(program, setup, pricing);
  price.low = price.seconds * (1 - price.trust.band);
  price.high = price.seconds * (1 + price.trust.band);
  price.sensitivity = Vary(demand, setup, pricing, machine, kernels, price.seconds);
  price.features = CountFeatures(demand, setup, pricing.constants, machine);
  if (kernels) price.kernel_notes = kernels->notes;
  return price;
}

}  // namespace wt::price
