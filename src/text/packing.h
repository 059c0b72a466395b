// RowSource: cuts a rank's documents into rows of context + 1 tokens. Two layouts: best fit (every
// row opens with BOS, as nanochat trains) and stream (one BOS-joined line of documents, as the
// contest scores). Between RankDocuments and the loader, which shuffles rows and makes batches.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "base/status.h"
#include "text/packing_documents.h"

namespace wt::text {

// What a row is made of, a few integers whose meaning is its source's own. Rows are planned and
// written apart, so that skipping, shuffling and saving never touch tokens.
using RowPlan = std::vector<int64_t>;

class RowSource {
 public:
  virtual ~RowSource() = default;
  // Plans the next row. False only at the end of the first epoch of a source made with `once`.
  virtual bool Next(RowPlan* row) = 0;
  // Writes a planned row's tokens and returns how many there are: out.size(), which must be context
  // + 1, except for the last row of a source made with `once`.
  virtual int64_t Write(const RowPlan& row, std::span<int32_t> out) const = 0;
  // The pass over the rank's documents that the last planned row has reached, from 1.
  virtual int64_t epoch() const = 0;

  virtual nlohmann::json SaveState() const = 0;
  // Fails and changes nothing when `state` is not one SaveState() could have given.
  virtual Status RestoreState(const nlohmann::json& state) = 0;
  virtual Status CheckPlan(const RowPlan& row) const = 0;
  virtual std::unique_ptr<RowSource> Clone() const = 0;
};

struct BestFitOptions {
  int64_t context = 0;
  int64_t buffer_documents = 1000;  // refill before a placement while fewer are buffered
  int64_t refill_documents = 128;   // documents read at a time, never across a row group's end
  bool once = false;  // stop when every document of the first epoch was placed; else loop forever
};

// Each placement takes the longest buffered document that fits in the rest of the row (the first
// read, on ties); when none fits, the shortest (first on ties) is cropped to fill the row and its
// rest is dropped. With `once` the choices are those of the endless source until the buffer would
// first hold a document of the second epoch.
std::unique_ptr<RowSource> MakeBestFitRows(std::shared_ptr<const RankDocuments> documents,
                                           const BestFitOptions& options);

struct StreamOptions {
  int64_t context = 0;
  int64_t streams = 1;  // rows are taken from the streams in turn
  bool once = false;    // as above; requires streams == 1. The last row may be short
};

// Row k of a stream is its tokens [k * context, (k + 1) * context]: the last target of a row is the
// first input of the next. A stream starts over at its end. Stream s of S is the s-th of S
// consecutive parts of the rank's documents, cut at the document boundary next after s/S of the
// tokens, so that all are about equally long. Fails when there are fewer documents than streams.
Result<std::unique_ptr<RowSource>> MakeStreamRows(std::shared_ptr<const RankDocuments> documents,
                                                  const StreamOptions& options);

}  // namespace wt::text
