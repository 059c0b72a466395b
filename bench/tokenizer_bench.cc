// How fast are training and encoding? Usage: tokenizer_bench [folder of .txt files | file]
// [vocab_size]. Without a folder it makes up 16 MB of words with a skewed distribution, which is
// easier than real text: quote figures of real text only.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "base/files.h"
#include "base/parallel.h"
#include "base/random.h"
#include "text/bpe_train.h"
#include "text/pretokenizer.h"
#include "text/tokenizer.h"

namespace {

using wt::text::Pretokenizer;
using wt::text::Tokenizer;
using Documents = std::vector<std::string_view>;

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of this thread on a core; for one-core figures a busy machine cannot spoil much.
double CpuSeconds(const std::function<void()>& work) {
  const auto now = [] {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

std::string MadeUpText(size_t bytes) {
  wt::Philox random(1, 0);
  std::vector<std::string> words(20000);
  for (std::string& word : words) {
    word.resize(1 + random.NextBelow(10));
    for (char& c : word) c = static_cast<char>('a' + random.NextBelow(26) * random.NextUniform());
  }
  std::string text;
  while (text.size() < bytes) {
    const double rank = std::exp(random.NextUniform() * std::log(words.size()));
    text += words[static_cast<size_t>(rank) % words.size()];
    text += random.NextBelow(12) == 0 ? ".\n" : " ";
  }
  return text;
}

std::string ReadTexts(const std::string& path) {
  const auto files = wt::ListFiles(path);
  WT_CHECK(files.ok(), "{}", files.status().message());
  std::string text;
  for (const std::string& file : *files) {
    const auto content = wt::ReadFile(file);
    WT_CHECK(content.ok(), "{}", content.status().message());
    text += *content;
  }
  return text;
}

// As training cuts them: at most 10,000 characters each.
Documents CutIntoDocuments(std::string_view text) {
  Documents documents;
  while (!text.empty()) {
    documents.push_back(wt::text::CodePointPrefix(text, 10'000));
    text.remove_prefix(documents.back().size());
  }
  return documents;
}

Tokenizer Train(const Documents& documents, int vocab_size) {
  wt::text::BpeTrainOptions options;
  options.vocab_size = vocab_size;
  double merging_from = 0;
  const auto start = std::chrono::steady_clock::now();
  options.progress = [&](const wt::text::BpeTrainProgress& p) {
    const auto now = std::chrono::steady_clock::now();
    if (!p.merging) merging_from = std::chrono::duration<double>(now - start).count();
    return true;
  };
  size_t next = 0;
  const auto source = [&](std::string* document) -> wt::Result<bool> {
    if (next == documents.size()) return false;
    document->assign(documents[next++]);
    return true;
  };
  auto made = wt::Result<Tokenizer>(wt::Status(wt::Code::kNotFound, "not trained"));
  const double seconds = Seconds([&] { made = TrainBpe(options, source); });
  WT_CHECK(made.ok(), "{}", made.status().message());
  fmt::print("train {} tokens, {} threads: {:.2f} s, of it counting {:.2f} s\n", vocab_size,
             wt::Threads(), seconds, merging_from);
  return std::move(*made);
}

void Report(std::string_view what, size_t bytes, double seconds) {
  fmt::print("{:<44} {:8.1f} MB/s\n", what, static_cast<double>(bytes) / 1e6 / seconds);
}

void MeasureSplit(const std::string& text, Pretokenizer::Engine engine, std::string_view name) {
  const auto pretokenizer = Pretokenizer::Create("nanochat", engine);
  wt::text::PcreSplitter::Scratch scratch;
  size_t pieces = 0;
  const double seconds = CpuSeconds([&] {
    wt::text::PieceReader reader(**pretokenizer, text, &scratch);
    for (std::string_view piece; reader.Next(&piece);) ++pieces;
  });
  Report(fmt::format("split, {} ({:.2f} bytes a piece)", name,
                     static_cast<double>(text.size()) / static_cast<double>(pieces)),
         text.size(), seconds);
}

void MeasureEncode(const Tokenizer& tokenizer, const Documents& documents, size_t bytes) {
  size_t tokens = 0;
  std::vector<int32_t> ids;
  const double one = CpuSeconds([&] {
    for (const std::string_view document : documents) {
      ids.clear();
      tokenizer.Encode(document, &ids);
      tokens += ids.size();
    }
  });
  Report(fmt::format("encode, one core ({:.3f} bytes a token)",
                     static_cast<double>(bytes) / static_cast<double>(tokens)),
         bytes, one);
  const double all = Seconds([&] { tokenizer.EncodeAll(documents); });
  Report(fmt::format("encode, {} threads", wt::Threads()), bytes, all);
}

void MeasureLongRuns(const Tokenizer& tokenizer) {
  for (const char c : {'a', ' '}) {
    const std::string text(10'000'000, c);
    std::vector<int32_t> ids;
    const double seconds = CpuSeconds([&] { tokenizer.Encode(text, &ids); });
    Report(fmt::format("encode, 10 MB of '{}'", c), text.size(), seconds);
  }
}

// Where the heap overtakes shifting: BpeModel's limit for short pieces comes from here.
void MeasureMerge(const Tokenizer& tokenizer, std::string_view text) {
  wt::text::MergeScratch scratch;
  std::vector<int32_t> ids;
  for (const size_t length : {16, 32, 64, 96, 128, 192, 256}) {
    const auto run = [&](auto merge) {
      ids.clear();
      return CpuSeconds([&] {
        for (size_t at = 0; at + length <= std::min<size_t>(text.size(), 2'000'000); at += length)
          (tokenizer.model().*merge)(text.substr(at, length), &scratch, &ids);
      });
    };
    const double with_shift = run(&wt::text::BpeModel::MergeShort);
    const double with_heap = run(&wt::text::BpeModel::MergeLong);
    fmt::print("merge pieces of {:>3} bytes: heap takes {:.2f} of the time of shifting\n", length,
               with_heap / with_shift);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string text = argc > 1 ? ReadTexts(argv[1]) : MadeUpText(16'000'000);
  const Documents documents = CutIntoDocuments(text);
  fmt::print("{:.1f} MB in {} documents\n", static_cast<double>(text.size()) / 1e6,
             documents.size());
  const Tokenizer tokenizer = Train(documents, argc > 2 ? std::atoi(argv[2]) : 8192);
  MeasureSplit(text, Pretokenizer::Engine::kFastest, "by hand");
  MeasureSplit(text, Pretokenizer::Engine::kPcre, "PCRE2 JIT");
  MeasureEncode(tokenizer, documents, text.size());
  MeasureLongRuns(tokenizer);
  MeasureMerge(tokenizer, text);
  return 0;
}
