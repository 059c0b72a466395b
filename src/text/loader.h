// Loader: endless training batches from a token set, for one rank, exactly resumable. The last step
// of the text room: a training loop asks for the next batch and saves the loader's state beside the
// weights. Evaluation batches are loader_eval.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/token_source.h"

namespace wt::text {

enum class Layout {
  kBestFit,  // rows open with BOS and are filled by best fit; no token is padding
  kStream,   // rows are cut from one BOS-joined stream and mostly open inside a document
};

const char* LayoutName(Layout layout);  // "best_fit", "stream"
Result<Layout> ParseLayout(std::string_view name);

struct LoaderConfig {
  Layout layout = Layout::kBestFit;
  int64_t context = 0;  // T, tokens in a row
  int64_t rows = 0;     // B, rows in a batch
  int rank = 0, world = 1;

  int64_t buffer_documents = 1000;  // best fit: see BestFitOptions
  int64_t refill_documents = 128;
  int64_t streams = 1;  // stream: consecutive parts of the corpus whose rows alternate

  int64_t shuffle_pool = 0;      // rows of which one is drawn at random; 0: rows in order
  int64_t shuffle_from_row = 0;  // rows before this one are never shuffled

  uint64_t seed = 0;  // of the pool's draws
  int32_t bos = 0;
  bool mask_bos_targets = false;  // targets that are BOS become -1
};

struct Batch {
  std::vector<int32_t> inputs, targets;  // [rows, context]
  int64_t epoch = 0;  // the pass over the rank's documents that reading has reached, from 1
};

class Loader {
 public:
  virtual ~Loader() = default;
  // Overwrites `batch`, reusing its memory.
  virtual void Next(Batch* batch) = 0;
  // The same as `batches` calls of Next(), without writing tokens.
  virtual void Skip(int64_t batches) = 0;

  virtual int64_t tokens() const = 0;  // inputs handed out by this rank since the start of the run
  virtual int64_t epoch() const = 0;   // of the last batch; 1 before the first

  // JSON text: positions and document numbers, no tokens; a few kilobytes, and about 8 bytes more
  // for each row of a shuffle pool. A loader restored from it continues bit for bit.
  virtual std::string SaveState() const = 0;
  // Requires the same token set and configuration, apart from `rows` and `mask_bos_targets`; the
  // differing field is named otherwise. After a failure the loader is as before.
  virtual Status RestoreState(std::string_view state) = 0;

  // An independent loader in the same state.
  virtual std::unique_ptr<Loader> Clone() const = 0;
};

// Fails when a setting makes no sense or the rank gets no documents.
Result<std::unique_ptr<Loader>> MakeLoader(const TokenSet& set, const LoaderConfig& config);

// inputs = row[0, context), targets = row[1, context + 1). With `masked` not -1, targets of that id
// become -1, which no loss counts.
void SplitRow(std::span<const int32_t> row, int32_t masked, int32_t* inputs, int32_t* targets);

}  // namespace wt::text
