// Does a step's price add up, and does it move as measured steps do?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "price/price_text.h"
#include "price/testing.h"

namespace wt::price {
namespace {

using ::testing::HasSubstr;

double Seconds(const nn::ModelConfig& config, const StepSetup& setup) {
  return PriceOf(config, setup).seconds;
}

// Passes of one block's activations by their width.
std::map<int64_t, double> PassesByWidth(const nn::StepProgram& program, const std::string& layer) {
  std::map<int64_t, double> passes;
  for (const nn::Node& node : program.nodes) {
    if (!node.scope.starts_with(layer)) continue;
    for (const Pass& pass : PassesOf(program, node, Compiled().LoweringOf(node.op->name))) {
      const nn::Value& value = program.value(pass.value);
      if (value.role != nn::Role::kActivation || value.dtype != DType::kBF16) continue;
      passes[value.shape.back()] += pass.passes;
    }
  }
  return passes;
}

// The measured team's op list, counted by hand, has 91 passes as wide as the stream, 30 as wide as
// keys and 16 as wide as the MLP, each rounded.
TEST(Passes, OfABlockAreThoseOfItsOpList) {
  auto passes = PassesByWidth(MakeProgram(WideConfig()), "layer4");
  EXPECT_NEAR(passes[1024], 91, 10);
  EXPECT_NEAR(passes[256], 30, 6);
  EXPECT_NEAR(passes[4096], 16, 2);
  EXPECT_EQ(passes.size(), 3u);
}

TEST(StepPrice, AddsUp) {
  const StepPrice price = PriceOf(WideConfig(), WideSetup());
  EXPECT_NEAR(price.waterfall.sum(), price.seconds, 1e-12);
  double ops = 0, evidence = 0;
  for (const OpPrice& op : price.ops) ops += op.seconds();
  for (double share : price.evidence) evidence += share;
  EXPECT_NEAR(ops + price.waterfall.fixed + price.waterfall.dispatch, price.seconds, 1e-9);
  EXPECT_NEAR(evidence, 1, 1e-9);
  for (const WaterfallRow& row : WaterfallRows()) EXPECT_GE(price.waterfall.*row.member, 0);
  EXPECT_LT(price.low, price.seconds);
  EXPECT_GT(price.high, price.seconds);
  EXPECT_NEAR(price.tokens_per_second, 262144 / price.seconds, 1e-6);
  EXPECT_EQ(price.steps_in_budget, std::floor(1800 / price.seconds));
}

// Ranges are those between which pairs of measured steps lie.
TEST(StepPrice, MovesAsMeasuredStepsDo) {
  const StepSetup setup = WideSetup();
  const double base = Seconds(WideConfig(), setup);
  const auto with = [&](auto change) {
    nn::ModelConfig config = WideConfig();
    change(&config);
    return Seconds(config, setup) - base;
  };
  const double layer = with([](auto* c) { c->depth = 10; });
  EXPECT_GT(layer, 0.09);
  EXPECT_LT(layer, 0.12);
  const double mlp = -with([](auto* c) { c->mlp_ratio = 3; });
  EXPECT_GT(mlp, 0.08);
  EXPECT_LT(mlp, 0.11);
  const double key_head = with([](auto* c) { c->kv_heads = 2; });
  EXPECT_GT(key_head, 0.02);
  EXPECT_LT(key_head, 0.07);
  EXPECT_LT(std::abs(with([](auto* c) { c->head_dim = 512; })) / base, 0.04);
  StepSetup one = setup;
  one.micro_batches = 1;
  const double slope = (base - Seconds(WideConfig(), one)) / 3;
  EXPECT_GT(slope, 0.21);
  EXPECT_LT(slope, 0.24);
}

TEST(StepPrice, OfShortHeadsIsHigher) {
  StepSetup setup = WideSetup();
  setup.sharding = Sharding::kNone;
  nn::ModelConfig config = WideConfig();
  config.depth = 12;
  config.width = 768;
  const double long_heads = Seconds(config, setup);
  config.head_dim = 128;
  const double short_heads = Seconds(config, setup);
  EXPECT_GT(short_heads / long_heads, 1.18);
  EXPECT_LT(short_heads / long_heads, 1.32);
  config.kv_heads = 0;
  const double all_heads = Seconds(config, setup);
  EXPECT_GT(all_heads / short_heads, 1.14);
  EXPECT_LT(all_heads / short_heads, 1.25);
  setup.toolchain.opt_level = 1;
  EXPECT_LT(Seconds(config, setup), short_heads);
}

TEST(StepPrice, GrowsWithEveryExtent) {
  const double base = Seconds(WideConfig(), WideSetup());
  for (int64_t nn::ModelConfig::*extent :
       {&nn::ModelConfig::depth, &nn::ModelConfig::width, &nn::ModelConfig::vocab_size,
        &nn::ModelConfig::context}) {
    nn::ModelConfig config = WideConfig();
    config.*extent *= 2;
    EXPECT_GT(Seconds(config, WideSetup()), base);
  }
}

TEST(StepPrice, FallsWithEachMechanism) {
  StepSetup setup = WideSetup();
  setup.sharding = Sharding::kNone;
  setup.scalars = Scalars::kEach;
  setup.fused_loss = false;
  double last = Seconds(WideConfig(), setup);
  const auto falls = [&](const char* what) {
    const double now = Seconds(WideConfig(), setup);
    EXPECT_LT(now, last) << what;
    last = now;
  };
  setup.scalars = Scalars::kStacked;
  falls("scalars");
  setup.fused_loss = true;
  falls("loss");
  setup.sharding = Sharding::kMuon;
  falls("muon");
  setup.dispatch = Dispatch::kAsync;
  falls("async");
  setup.sharding = Sharding::kZero1;
  falls("zero1");
  setup.sharding = Sharding::kZero2;
  falls("zero2");
  setup.accumulate = Accumulate::kGraph;
  falls("graph");
}

TEST(StepPrice, TellsSensitivityWithItsSign) {
  const StepPrice price = PriceOf(WideConfig(), WideSetup());
  ASSERT_EQ(price.sensitivity.size(), ConstantKeys().size());
  for (const Sensitivity& row : price.sensitivity) {
    EXPECT_LE(row.minus * row.plus, 0) << row.constant;
    if (row.constant == "pass_bytes_per_s") {
      EXPECT_GT(row.minus, 0.02);
    }
  }
}

TEST(StepPrice, ChargesTilesThatAreNotFull) {
  const auto waste = [](int64_t width, int64_t head_dim) {
    nn::ModelConfig config = WideConfig();
    config.width = width;
    config.head_dim = head_dim;
    double most = 0;
    for (const OpPrice& op : PriceOf(config, WideSetup()).ops) {
      if (op.op == "linear") most = std::max(most, op.waste);
    }
    return most;
  };
  EXPECT_EQ(waste(1024, 256), 0);
  EXPECT_NEAR(waste(192, 192), 1 - 0.75 * 0.75, 1e-9);  // 192 of 256 on both sides
}

TEST(StepPrice, FlagsWhatWasNeverMeasured) {
  const auto flags = [](const nn::ModelConfig& config, const StepSetup& setup) {
    return fmt::format("{}", fmt::join(PriceOf(config, setup).trust.flags, "; "));
  };
  EXPECT_EQ(flags(WideConfig(), WideSetup()), "");
  nn::ModelConfig config = WideConfig();
  config.context = 2048;
  StepSetup setup = WideSetup();
  setup.context = 2048;
  EXPECT_THAT(flags(config, setup), HasSubstr("context 2048"));
  setup = WideSetup();
  setup.machine.ranks = 16;
  EXPECT_THAT(flags(WideConfig(), setup), HasSubstr("more than one chip"));
  setup = WideSetup();
  setup.toolchain.mode = Mode::kEager;
  EXPECT_THAT(flags(WideConfig(), setup), HasSubstr("eager"));
  EXPECT_EQ(PriceOf(WideConfig(), WideSetup()).trust.band, 0.04);
}

TEST(Promotion, OfTheStreamIsTold) {
  EXPECT_FALSE(PriceOf(WideConfig(), WideSetup()).promotion.any());
  nn::ModelConfig config = WideConfig();
  config.stream_dtype = DType::kF32;
  const StepPrice stream = PriceOf(config, WideSetup());
  EXPECT_EQ(stream.promotion.products, 0);
  EXPECT_GT(stream.promotion.tensors, 9);
  EXPECT_GT(stream.promotion.traffic_s, 0.02);
  config.compute_dtype = DType::kF32;
  const StepPrice all = PriceOf(config, WideSetup());
  EXPECT_GT(all.promotion.products, 9 * 12);
  EXPECT_GT(all.promotion.products_s, 0.9);
  EXPECT_THAT(PromotionText(all.promotion, all.seconds), HasSubstr("in bf16 the step would be"));
  EXPECT_THAT(PriceText(all, WideSetup()), HasSubstr("warning: fp32"));
}

TEST(Hbm, CountsShardsAndLogits) {
  const nn::StepProgram program = MakeProgram(WideConfig());
  StepSetup setup = WideSetup();
  const HbmUse whole = CountHbm(program, setup, Trn2());
  EXPECT_TRUE(whole.fits());
  EXPECT_EQ(whole.capacity, 12.0 * (1 << 30));
  EXPECT_NEAR(whole.parameters, 4.0 * static_cast<double>(program.ParameterCount()), 1);
  setup.sharding = Sharding::kZero2;
  const HbmUse sharded = CountHbm(program, setup, Trn2());
  EXPECT_NEAR(sharded.state * 8, whole.state, 1);
  EXPECT_NEAR(sharded.gradients * 8, whole.gradients, 1);
  setup.fused_loss = false;
  EXPECT_GT(CountHbm(program, setup, Trn2()).inner, sharded.inner);
}

TEST(PriceJson, HasTheKeysThatSweepsRead) {
  const auto json = PriceJson(PriceOf(WideConfig(), WideSetup()));
  for (const char* key :
       {"step_seconds", "step_seconds_low", "step_seconds_high", "tokens_per_second", "mfu",
        "steps_in_budget", "tokens_in_budget", "hbm_bytes_peak", "waterfall", "ops", "flags",
        "evidence", "sensitivity", "promotion"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_GT(json["ops"].size(), 100u);
}

TEST(Pricing, RefusesFilesThatSayTooLittle) {
  EXPECT_EQ(LoadPricing("no-such").status().code(), Code::kNotFound);
  EXPECT_EQ(Compiled().rows.size(), ConstantKeys().size());
  int64_t fitted = 0;
  for (const Constant& row : Compiled().rows) {
    if (!row.fitted) continue;
    ++fitted;
    EXPECT_GT(row.spread, 0) << row.id;
    EXPECT_FALSE(row.rows.empty()) << row.id;
  }
  EXPECT_LE(fitted, 8);
}

}  // namespace
}  // namespace wt::price
