// Every kernel of data/kernels.toml against the host op that it stands for.
#include "price/kernel_check.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "price/testing.h"

namespace wt::price {
namespace {

const KernelTable& Table() {
  static const KernelTable table = [] {
    auto loaded = KernelTable::Load();
    WT_CHECK(loaded.ok(), "{}", loaded.status().message());
    return std::move(*loaded);
  }();
  return table;
}

// A small model with every kind of layer, of shapes that `seed` draws.
nn::ModelConfig SmallConfig(uint64_t seed, DType dtype) {
  Philox random(seed, 7);
  const auto pick = [&](std::initializer_list<int64_t> of) {
    return of.begin()[random.NextBelow(of.size())];
  };
  nn::ModelConfig config;
  config.depth = 2;
  config.head_dim = pick({32, 64});
  config.width = config.head_dim * pick({2, 3});
  config.kv_heads = 1;
  config.mlp_ratio = static_cast<double>(pick({1, 2}));
  config.activation =
      seed % 2 ? nn::Activation::kSwiglu : static_cast<nn::Activation>(seed / 2 % 4);
  config.qk_norm = seed % 3 != 0;
  config.value_embedding_layers = {0};
  config.value_embedding_gate = 12;
  config.window_pattern = "SL";
  config.short_window = 64;
  config.conv_taps = 3;
  config.smear_channels = 12;
  config.vocab_size = pick({200, 333});
  config.context = pick({128, 160});
  config.compute_dtype = config.stream_dtype = dtype;
  return config;
}

// Programs that together use every op.
std::vector<nn::StepProgram> Programs(const nn::ModelConfig& config) {
  std::vector<nn::StepProgram> programs;
  const auto add = [&](auto made) {
    WT_CHECK(made.ok(), "{}", made.status().message());
    if constexpr (requires { made->program; }) {
      programs.push_back(std::move(made->program));
    } else {
      programs.push_back(std::move(*made));
    }
  };
  programs.push_back(MakeProgram(config, 2));
  add(nn::MakeScoreProgram(config, nn::BuildGpt, 2, config.context));
  add(nn::MakeLogitsProgram(config, nn::BuildGpt, 2, config.context));
  add(nn::MakeEmaProgram(programs[0]));
  add(nn::MakeEmaBlendProgram(programs[0]));
  return programs;
}

void CheckOnce(const nn::StepProgram& program, const nn::Node& node, const KernelRow& row,
               const std::string& kernel, uint64_t seed, std::set<std::string>* checked) {
  const auto result = CheckKernel({program, node, row, kernel, 0, seed});
  if (result.ok()) {
    checked->insert(kernel);
  } else {
    EXPECT_EQ(result.status().code(), Code::kUnsupported) << result.status().message();
  }
}

TEST(KernelCheck, EveryKernelAgreesWithItsHostOp) {
  std::set<std::string> checked;
  for (const DType dtype : {DType::kBF16, DType::kF32}) {
    for (const uint64_t seed : {0u, 1u, 2u, 4u, 6u}) {
      std::set<std::string> seen;  // each op once a model
      for (const nn::StepProgram& program : Programs(SmallConfig(seed, dtype))) {
        for (const nn::Node& node : program.nodes) {
          const KernelRow* row = Table().Find(node.op->name);
          if (!row || row->kernel.empty() || !seen.insert(node.op->name).second) continue;
          CheckOnce(program, node, *row, row->kernel, seed, &checked);
          if (!row->bounded.empty()) {
            CheckOnce(program, node, *row, row->bounded, seed, &checked);
          }
        }
      }
    }
  }
  for (const auto& [op, row] : Table().rows()) {
    EXPECT_TRUE(row.kernel.empty() || checked.count(row.kernel)) << op << " was not checked";
  }
}

TEST(KernelCheck, EveryOpHasARow) {
  for (const nn::OpDef* op : nn::AllOps()) EXPECT_TRUE(Table().Find(op->name)) << op->name;
}

TEST(KernelCheck, SaysWhereAWrongKernelIsWrong) {
  const nn::StepProgram program = MakeProgram(SmallConfig(1, DType::kF32), 2);
  for (const nn::Node& node : program.nodes) {
    if (std::string(node.op->name) != "mix") continue;
    KernelRow row = *Table().Find("mix");
    for (KernelOperand& operand : row.args) {
      if (operand.name == "x0") operand.index = 0;
    }
    const auto result = CheckKernel({program, node, row, row.kernel, 0, 1});
    ASSERT_EQ(result.status().code(), Code::kMismatch) << result.status().message();
    EXPECT_NE(result.status().message().find("the first is [0, 0]"), std::string::npos)
        << result.status().message();
    return;
  }
  FAIL() << "the program has no mix";
}

}  // namespace
}  // namespace wt::price
