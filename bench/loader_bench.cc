// How many tokens a second the loaders give, each alone on one core: the figure to hold against a
// training step's. Documents have a web corpus's lengths (log-normal, mean about 600 tokens).
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "text/loader.h"
#include "text/packing_plain.h"
#include "text/prefetch.h"
#include "text/token_file.h"

namespace wt::text {
namespace {

constexpr int64_t kVocab = 8192, kTokens = 24'000'000;
constexpr int32_t kBos = 8188;

PlainDocument RandomDocument(Philox* random, double mean) {
  const double length = mean * std::exp(random->NextNormal() - 0.5);
  PlainDocument document(static_cast<size_t>(length));
  for (int32_t& id : document) id = static_cast<int32_t>(random->NextBelow(kBos));
  return document;
}

std::string WriteCorpus(const std::string& path, double mean_length) {
  auto writer = TokenFileWriter::Create(path, {kVocab, std::string(64, '0')});
  WT_CHECK(writer.ok(), "{}", writer.status().message());
  Philox random(1, 0);
  for (int64_t tokens = 0; tokens < kTokens;) {
    const PlainDocument document = RandomDocument(&random, mean_length);
    tokens += static_cast<int64_t>(document.size());
    WT_CHECK(writer->AddDocument(document, 0).ok(), "write");
  }
  WT_CHECK(writer->Finish().ok(), "finish");
  return path;
}

const TokenSet& Corpus(double mean_length) {
  const auto open = [](double mean) {
    const std::string path =
        std::filesystem::temp_directory_path() / ("loader_bench_" + std::to_string(int(mean)));
    auto set = TokenSet::Open({WriteCorpus(path, mean)});
    std::remove(path.c_str());  // the map stays
    WT_CHECK(set.ok(), "{}", set.status().message());
    return std::move(set).value();
  };
  static const TokenSet web = open(600), stories = open(150);
  return mean_length > 300 ? web : stories;
}

LoaderConfig Config(Layout layout, int64_t context) {
  LoaderConfig config;
  config.layout = layout;
  config.context = context;
  config.rows = 16;
  config.bos = kBos;
  return config;
}

std::unique_ptr<Loader> Make(const LoaderConfig& config, double mean_length = 600) {
  auto loader = MakeLoader(Corpus(mean_length), config);
  WT_CHECK(loader.ok(), "{}", loader.status().message());
  return std::move(loader).value();
}

void Run(benchmark::State& state, Loader* loader) {
  Batch batch;
  int64_t tokens = 0;
  for (auto _ : state) {
    loader->Next(&batch);
    benchmark::DoNotOptimize(batch.targets.data());
    tokens += static_cast<int64_t>(batch.inputs.size());
  }
  state.SetItemsProcessed(tokens);
}

void BestFit(benchmark::State& state) {
  Run(state, Make(Config(Layout::kBestFit, state.range(0))).get());
}
BENCHMARK(BestFit)->Arg(256)->Arg(1024)->Arg(2048);

void BestFitShortDocuments(benchmark::State& state) {
  Run(state, Make(Config(Layout::kBestFit, state.range(0)), 150).get());
}
BENCHMARK(BestFitShortDocuments)->Arg(1024);

void Stream(benchmark::State& state) {
  LoaderConfig config = Config(Layout::kStream, 1024);
  config.streams = state.range(0);
  config.mask_bos_targets = true;
  Run(state, Make(config).get());
}
BENCHMARK(Stream)->Arg(1)->Arg(8);

void StreamWithPool(benchmark::State& state) {
  LoaderConfig config = Config(Layout::kStream, 1024);
  config.streams = 8;
  config.shuffle_pool = 256 * 16;
  Run(state, Make(config).get());
}
BENCHMARK(StreamWithPool);

// Wall time: the making is on another thread.
void Prefetched(benchmark::State& state) {
  PrefetchLoader loader(Make(Config(Layout::kBestFit, 1024)));
  Run(state, &loader);
}
BENCHMARK(Prefetched)->UseRealTime();

// The definition: a scan of the whole buffer for every placement.
void PlainBestFitScan(benchmark::State& state) {
  Philox random(1, 0);
  std::vector<PlainGroup> groups(2);
  for (PlainGroup& group : groups) {
    for (int i = 0; i < 1024; ++i) group.push_back(RandomDocument(&random, 600));
  }
  PlainBestFit plain(groups, 1024, 1000, 128);
  for (auto _ : state) benchmark::DoNotOptimize(plain.NextRow());
  state.SetItemsProcessed(state.iterations() * 1024);
}
BENCHMARK(PlainBestFitScan);

void SaveState(benchmark::State& state) {
  LoaderConfig config = Config(Layout::kBestFit, 1024);
  config.shuffle_pool = state.range(0);
  const auto loader = Make(config);
  loader->Skip(10);
  size_t bytes = 0;
  for (auto _ : state) bytes = loader->SaveState().size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(SaveState)->Arg(0)->Arg(4096);

void OpenTokenFile(benchmark::State& state) {
  const std::string path = std::filesystem::temp_directory_path() / "loader_bench_open";
  WriteCorpus(path, 600);
  for (auto _ : state) benchmark::DoNotOptimize(TokenFile::Open(path));
  state.SetItemsProcessed(state.iterations() * kTokens);
  std::remove(path.c_str());
}
BENCHMARK(OpenTokenFile)->UseRealTime();

}  // namespace
}  // namespace wt::text

BENCHMARK_MAIN();
