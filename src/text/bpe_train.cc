#include "text/bpe_train.h"

#include <utility>

#include "base/parallel.h"
#include "text/bpe_count.h"
#include "text/bpe_merges.h"
#include "text/pretokenizer.h"

namespace wt::text {
namespace {

constexpr size_t kCountedBytes = 16 << 20;
constexpr int64_t kTokensPerReport = 256;

Status CheckOptions(const BpeTrainOptions& o) {
  const int64_t least = 256 + static_cast<int64_t>(o.specials.size());
  if (o.vocab_size < least || o.vocab_size > kMaxVocabSize) {
    return Error(Code::kInvalidArgument,
                 "vocab_size {}: expected {} (256 bytes and {} specials) to {}", o.vocab_size,
                 least, o.specials.size(), kMaxVocabSize);
  }
  if (o.max_document_chars < 1 || o.max_chars < 1) {
    return Error(Code::kInvalidArgument,
                 "max_document_chars {} and max_chars {}: expected at least 1 each",
                 o.max_document_chars, o.max_chars);
  }
  return {};
}

class Counting {
 public:
  Counting(const BpeTrainOptions& options, const Pretokenizer& pretokenizer)
      : options_(options), pretokenizer_(pretokenizer), counters_(Threads()) {}

  // Reads to the end of the documents or the limit of characters.
  Status Run(const DocumentSource& next) {
    bool more = true;
    while (more) {
      std::vector<std::string> batch;
      WT_ASSIGN_OR_RETURN(more, Fill(next, &batch));
      CountBatch(batch);
      WT_RETURN_IF_ERROR(Report());
    }
    for (size_t i = 1; i < counters_.size(); ++i) {
      counters_[0].AddAll(counters_[i]);
      counters_[i] = {};
    }
    return {};
  }

  const PieceCounter& counter() const { return counters_[0]; }
  int64_t chars() const { return chars_; }

 private:
  // False once there is nothing more to read.
  Result<bool> Fill(const DocumentSource& next, std::vector<std::string>* batch) {
    size_t bytes = 0;
    std::string document;
    while (bytes < kCountedBytes) {
      if (chars_ > options_.max_chars) return false;
      WT_ASSIGN_OR_RETURN(const bool got, next(&document));
      if (!got) return false;
      const std::string_view kept = CodePointPrefix(document, options_.max_document_chars);
      chars_ += CountCodePoints(kept);
      bytes += kept.size();
      document.resize(kept.size());
      batch->push_back(std::move(document));
      document.clear();
    }
    return true;
  }

  // Counts are sums, so which counter a document goes to makes no difference.
  void CountBatch(const std::vector<std::string>& batch) {
    const auto workers = static_cast<int64_t>(counters_.size());
    ParallelFor(workers, [&](int64_t worker) {
      PcreSplitter::Scratch scratch;
      for (size_t i = worker; i < batch.size(); i += workers) {
        PieceReader reader(pretokenizer_, batch[i], &scratch);
        for (std::string_view piece; reader.Next(&piece);)
          if (piece.size() > 1) counters_[worker].Add(piece);
      }
    });
  }

  Status Report() const {
    if (options_.progress && !options_.progress({false, chars_, 0, 256}))
      return Error(Code::kInterrupted, "tokenizer training stopped while counting");
    return {};
  }

  const BpeTrainOptions& options_;
  const Pretokenizer& pretokenizer_;
  std::vector<PieceCounter> counters_;
  int64_t chars_ = 0;
};

Result<std::vector<std::string>> MakeTokens(const BpeTrainOptions& options,
                                            const Counting& counted) {
  const auto pieces = counted.counter().Sorted();
  PairMerger merger(pieces);
  const size_t wanted = options.vocab_size - options.specials.size();
  while (merger.tokens().size() < wanted) {
    if (!merger.Step()) {
      return Error(Code::kInvalidArgument,
                   "the text ({} characters, {} distinct pieces) yields {} tokens; vocab_size {} "
                   "needs {} before its specials: give more text or a smaller vocab_size",
                   counted.chars(), pieces.size(), merger.tokens().size(), options.vocab_size,
                   wanted);
    }
    const auto made = static_cast<int64_t>(merger.tokens().size());
    if (made % kTokensPerReport != 0 || !options.progress) continue;
    const auto count = static_cast<int64_t>(pieces.size());
    if (!options.progress({true, counted.chars(), count, made}))
      return Error(Code::kInterrupted, "tokenizer training stopped while merging");
  }
  return merger.tokens();
}

}  // namespace

Result<Tokenizer> TrainBpe(const BpeTrainOptions& options, const DocumentSource& next) {
  WT_RETURN_IF_ERROR(CheckOptions(options));
  WT_ASSIGN_OR_RETURN(auto pretokenizer, Pretokenizer::Create(options.pattern));
  Counting counting(options, *pretokenizer);
  WT_RETURN_IF_ERROR(counting.Run(next));
  TokenizerSpec spec;
  spec.pattern = options.pattern;
  WT_ASSIGN_OR_RETURN(spec.tokens, MakeTokens(options, counting));
  spec.special.assign(spec.tokens.size(), false);
  AppendSpecials(options.specials, &spec);
  return Tokenizer::Create(std::move(spec));
}

}  // namespace wt::text
