// The list of known corpora, data/corpora.toml: where each comes from, what it is made of and how
// its validation is kept apart. Read by `windtunnel data`, by fetch.h and wherever a recipe names
// a corpus.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "text/corpus.h"

namespace wt::text {

// What is known of one file beforehand.
struct KnownFile {
  std::string name;
  std::string sha256;  // "" when not known
  int64_t bytes = -1;  // -1 when not known
};

struct CorpusEntry {
  std::string name, title, source, licence, notes;
  std::string url;      // with {:05} for the shard's number; "" when the corpus is built here
  int64_t shards = 0;   // 0 when built here
  std::string builder;  // program that makes it in a folder given as its argument
  SplitRule split = SplitRule::kHash;
  double val_fraction = 0.04;
  std::string salt;
  std::vector<KnownFile> files;

  std::string UrlOf(int64_t shard) const;
  // The url's last part: "shard_00007.parquet".
  std::string FileNameOf(int64_t shard) const;
  // Null when nothing is known of it.
  const KnownFile* Known(const std::string& file_name) const;
};

// Reads a list. Fails, naming file, entry and key, on unknown keys, a url without a place for the
// shard's number, an entry with neither url nor builder, and a sha256 that is none.
Result<std::vector<CorpusEntry>> ReadCorpusList(const std::string& path);
Result<std::vector<CorpusEntry>> ParseCorpusList(const std::string& toml, const std::string& path);

// The entry of that name; else kNotFound with the nearest name and all there are.
Result<CorpusEntry> FindCorpus(const std::vector<CorpusEntry>& corpora, const std::string& name);

// The corpus once its files are in `folder`.
CorpusSpec SpecOf(const CorpusEntry& entry, const std::string& folder);

}  // namespace wt::text
