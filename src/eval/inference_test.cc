// The engine with pools against whole forward passes, over random models of the family: the same
// bits, however sequences are cut, batched and shared.
#include "eval/inference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "eval/sample.h"

namespace wt::eval {
namespace {

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed, 7) {}
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(random_.NextBelow(static_cast<uint64_t>(n)));
  }
  int64_t Between(int64_t a, int64_t b) { return a + Below(b - a + 1); }
  bool Coin() { return Below(2) == 1; }

 private:
  Philox random_;
};

nn::ModelConfig RandomConfig(Draw& draw) {
  nn::ModelConfig config;
  config.depth = draw.Between(1, 4);
  config.head_dim = draw.Coin() ? 16 : 32;
  const int64_t heads = std::vector<int64_t>{1, 2, 4}[static_cast<size_t>(draw.Below(3))];
  config.width = heads * config.head_dim;
  config.kv_heads = std::vector<int64_t>{0, 1, heads}[static_cast<size_t>(draw.Below(3))];
  config.activation = static_cast<nn::Activation>(draw.Below(5));
  config.qk_norm = draw.Coin();
  config.tied_head = draw.Coin();
  config.residual_mix = draw.Coin();
  config.softcap = draw.Coin() ? 15 : 0;
  config.window_pattern = draw.Coin() ? "SSSL" : "SL";
  config.short_window = draw.Between(0, 40);
  if (draw.Coin()) config.value_embedding_layers = {0, -1};
  config.value_embedding_shared = draw.Coin();
  config.value_embedding_gate = draw.Coin() ? 8 : 0;
  config.conv_taps = draw.Coin() ? draw.Between(1, 4) : 0;
  config.smear_channels = draw.Coin() ? 8 : 0;
  if (config.depth > 2 && draw.Coin()) {
    config.attention_source_layer = 0;
    config.attention_source_from = 2;
  }
  config.compute_dtype = draw.Coin() ? DType::kBF16 : DType::kF32;
  config.stream_dtype =
      config.compute_dtype == DType::kF32 || draw.Coin() ? DType::kF32 : DType::kBF16;
  config.out_scale = 0.7;
  config.head_std = 0.3;
  config.vocab_size = draw.Between(17, 90);
  config.context = 260;
  return config;
}

std::vector<int32_t> RandomTokens(Draw& draw, int64_t n, int64_t vocab) {
  std::vector<int32_t> tokens(static_cast<size_t>(n));
  for (int32_t& token : tokens) token = static_cast<int32_t>(draw.Below(vocab));
  return tokens;
}

// Smear starts with lambda 0; here it must do something.
void Stir(nn::TensorStore* weights, const nn::StepProgram& program, uint64_t seed) {
  weights->Initialize(program, seed);
  if (nn::StoredTensor* lambda = weights->Find("smear.lambda")) {
    *reinterpret_cast<float*>(lambda->buffer.data()) = 0.6f;
  }
}

// Logits of every position of one sequence, the plain way.
class Plain {
 public:
  Plain(const nn::ModelConfig& config, nn::TensorStore* weights, int64_t time, uint64_t seed)
      : config_(config), time_(time) {
    auto made = nn::MakeLogitsProgram(config, nn::BuildGpt, 1, time);
    WT_CHECK(made.ok(), "{}", made.status().message());
    logits_ = made->logits;
    auto executor = nn::Executor::Create(std::move(made->program), weights);
    WT_CHECK(executor.ok(), "{}", executor.status().message());
    executor_ = std::move(*executor);
    Stir(weights, executor_->program(), seed);
    executor_->Run(nn::Phase::kPrepare);
  }
  std::vector<float> Logits(const std::vector<int32_t>& tokens) {
    int32_t* input = executor_->Data<int32_t>(nn::kTokensInput);
    std::fill_n(input, time_, 0);
    std::copy(tokens.begin(), tokens.end(), input);
    executor_->Run(nn::Phase::kForward);
    const float* logits = executor_->Data<float>(logits_);
    return {logits, logits + static_cast<int64_t>(tokens.size()) * config_.vocab_size};
  }

 private:
  nn::ModelConfig config_;
  int64_t time_;
  nn::ValueId logits_;
  std::unique_ptr<nn::Executor> executor_;
};

// A sequence that is fed piece by piece.
struct Fed {
  std::vector<int32_t> tokens, slots;
  size_t done = 0;
  std::vector<float> logits;
};

// Sequences of which some begin as others do, and then share slots.
std::vector<Fed> RandomSequences(Draw& draw, int64_t longest, int64_t vocab, int64_t slots) {
  std::vector<int32_t> free(static_cast<size_t>(slots));
  std::iota(free.begin(), free.end(), 0);
  for (size_t i = free.size() - 1; i > 0; --i) {
    if (draw.Below(3) == 0)
      std::swap(free[i], free[static_cast<size_t>(draw.Below(static_cast<int64_t>(i)))]);
  }
  std::vector<Fed> fed(static_cast<size_t>(draw.Between(1, 4)));
  for (size_t s = 0; s < fed.size(); ++s) {
    const int64_t length = draw.Between(1, longest);
    fed[s].tokens = RandomTokens(draw, length, vocab);
    if (s > 0 && draw.Coin()) {
      const int64_t shared =
          std::min<int64_t>(static_cast<int64_t>(fed[0].tokens.size()), length - 1);
      std::copy_n(fed[0].tokens.begin(), shared, fed[s].tokens.begin());
      fed[s].slots.assign(fed[0].slots.begin(), fed[0].slots.begin() + shared);
    }
    while (fed[s].slots.size() < fed[s].tokens.size()) {
      fed[s].slots.push_back(free.back());
      free.pop_back();
    }
  }
  return fed;
}

// One run with a random piece of each sequence that is not done. A sequence that shares slots waits
// for the first one, which owns them.
void Feed(Draw& draw, InferenceEngine* engine, std::vector<Fed>* fed) {
  std::vector<Piece> pieces;
  std::vector<int32_t> wanted;
  std::vector<std::pair<size_t, size_t>> whose;  // sequence, rows
  int64_t rows = 0;
  for (size_t s = 0; s < fed->size(); ++s) {
    Fed& f = (*fed)[s];
    const size_t left = f.tokens.size() - f.done;
    if (left == 0 || (s > 0 && draw.Below(3) == 0)) continue;
    const auto n =
        static_cast<size_t>(draw.Between(1, std::min<int64_t>(static_cast<int64_t>(left), 120)));
    pieces.push_back({{f.tokens.data() + f.done, n}, {f.slots.data(), f.done + n}});
    for (size_t i = 0; i < n; ++i) wanted.push_back(static_cast<int32_t>(rows++));
    whose.emplace_back(s, n);
    f.done += n;
  }
  if (pieces.empty()) return;
  const std::span<float> logits = engine->Run(pieces, wanted);
  size_t at = 0;
  for (const auto& [s, n] : whose) {
    const size_t count = n * static_cast<size_t>(engine->vocab());
    (*fed)[s].logits.insert((*fed)[s].logits.end(), logits.begin() + static_cast<int64_t>(at),
                            logits.begin() + static_cast<int64_t>(at + count));
    at += count;
  }
}

TEST(InferenceTest, PiecesGiveTheBitsOfWholePasses) {
  constexpr int64_t kTime = 260;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    Draw draw(seed);
    const nn::ModelConfig config = RandomConfig(draw);
    nn::TensorStore weights;
    Plain plain(config, &weights, kTime, seed);
    const nn::CachedSizes sizes = {4 * kTime, 4, 4 * kTime, 4 * kTime, 6 * kTime, kTime};
    auto engine = InferenceEngine::Create(config, nn::BuildGpt, &weights, sizes);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    auto fed = RandomSequences(draw, kTime, config.vocab_size, sizes.slots);
    const auto busy = [](const Fed& f) { return f.done < f.tokens.size(); };
    while (std::any_of(fed.begin(), fed.end(), busy)) Feed(draw, engine->get(), &fed);
    for (const Fed& f : fed) {
      const std::vector<float> want = plain.Logits(f.tokens);
      ASSERT_EQ(f.logits.size(), want.size());
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_EQ(f.logits[i], want[i])
            << "seed " << seed << ", position " << i / static_cast<size_t>(config.vocab_size);
      }
    }
  }
}

TEST(SamplerTest, GreedyTokensAreThoseOfWholePasses) {
  for (uint64_t seed = 100; seed < 108; ++seed) {
    Draw draw(seed);
    nn::ModelConfig config = RandomConfig(draw);
    config.context = 48;
    nn::TensorStore weights;
    Plain plain(config, &weights, config.context, seed);
    SampleOptions options;
    options.temperature = 0;
    Sampler sampler(config, nn::BuildGpt, &weights, options);
    std::vector<int32_t> tokens = RandomTokens(draw, draw.Between(1, 30), config.vocab_size);
    while (tokens.size() < 2 * 48) {
      ASSERT_TRUE(sampler.Next(&tokens).ok());
      if (tokens.size() > 48) continue;  // then it goes on from the newer half
      const std::vector<int32_t> before(tokens.begin(), tokens.end() - 1);
      const std::vector<float> logits = plain.Logits(before);
      const auto last = logits.end() - config.vocab_size;
      EXPECT_EQ(std::max_element(last, logits.end()) - last, tokens.back()) << seed;
    }
  }
}

}  // namespace
}  // namespace wt::eval
