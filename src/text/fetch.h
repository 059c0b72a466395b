// Fetching corpora: public shards over HTTP(S) into a folder, from which documents.h reads. A
// download can be cut off at any moment and goes on where it was; a file gets its name only when it
// is whole.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "text/corpus_list.h"

namespace wt::text {

struct FetchProgress {
  std::string file;         // the one that moved
  int64_t file_bytes = 0;   // of it here by now
  int64_t file_total = -1;  // -1 when the server does not say
  int64_t files_done = 0;
  int64_t files = 0;
};

struct FetchOptions {
  int64_t shards = 1;          // training shards, from the first; validation comes on top; -1: all
  int max_parallel = 4;        // downloads at a time
  int attempts = 6;            // for each file, before giving up
  double backoff_seconds = 2;  // after the first failure; doubles with each, up to a minute
  double stall_seconds = 60;   // without a byte: counts as a failure
  std::function<void(const FetchProgress&)> progress;  // called from one thread at a time
  std::function<bool()> stopped;  // asked often, from any thread; true gives up: kInterrupted
};

// Downloads one file to `path` by way of PATH.part, which a later call continues (HTTP Range, with
// If-Range where the server gives an ETag) or begins anew. A file already at `path` is kept when it
// agrees with `known`, and replaced otherwise. `known` may be empty; what it states is checked, as
// is the size that the server states. Only http and https, at most 5 redirects, never from https to
// http. Fails with one message that names the address, the file and what was tried.
Status FetchFile(const std::string& url, const std::string& path, const KnownFile& known,
                 const FetchOptions& options);

// Downloads the validation shard and `options.shards` training shards of a fetched corpus into
// `folder` (made if need be), and checks that each .parquet can be opened. Files already there are
// kept. A corpus that is built instead is an error that says how.
Status FetchCorpus(const CorpusEntry& entry, const std::string& folder,
                   const FetchOptions& options);

}  // namespace wt::text
