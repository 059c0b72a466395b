#include "text/corpus_list.h"

#include <algorithm>

#include "base/files.h"
#include "base/text_util.h"
#include "base/toml_file.h"

namespace wt::text {
namespace {

constexpr std::string_view kShardPlace = "{:05}";

bool IsSha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Result<KnownFile> ReadFileEntry(const toml::node& node, const std::string& where) {
  KnownFile file;
  TableReader reader(node.as_table(), where);
  reader.Get("name", &file.name);
  reader.Get("sha256", &file.sha256);
  reader.Get("bytes", &file.bytes);
  WT_RETURN_IF_ERROR(reader.Finish());
  if (file.name.empty()) return Error(Code::kInvalidArgument, "{}: a file has no name", where);
  if (!file.sha256.empty() && !IsSha256(file.sha256)) {
    return Error(Code::kInvalidArgument, "{}: sha256 of {} is {}; expected 64 digits 0-9 a-f",
                 where, file.name, file.sha256);
  }
  return file;
}

Status CheckEntry(const CorpusEntry& entry) {
  if (entry.url.empty() == entry.builder.empty())
    return Error(Code::kInvalidArgument, "expected either url or builder");
  if (entry.url.empty()) return {};
  if (entry.url.find(kShardPlace) == std::string::npos)
    return Error(Code::kInvalidArgument, "url {} has no {} for the shard", entry.url, kShardPlace);
  if (!entry.url.starts_with("https://") && !entry.url.starts_with("http://"))
    return Error(Code::kInvalidArgument, "url {}; expected https://…", entry.url);
  if (entry.shards < 1 || entry.shards > 100000)
    return Error(Code::kInvalidArgument, "shards = {}; expected 1 to 100000", entry.shards);
  return {};
}

Result<CorpusEntry> ReadEntry(const std::string& name, const toml::table& table) {
  CorpusEntry entry;
  entry.name = name;
  toml::table plain = table;
  if (const toml::array* files = table["files"].as_array()) {
    for (const toml::node& node : *files) {
      WT_ASSIGN_OR_RETURN(KnownFile file, ReadFileEntry(node, name + ".files"));
      entry.files.push_back(std::move(file));
    }
    plain.erase("files");
  }
  std::string split = SplitRuleName(entry.split);
  TableReader reader(&plain, name);
  reader.Get("title", &entry.title);
  reader.Get("source", &entry.source);
  reader.Get("licence", &entry.licence);
  reader.Get("notes", &entry.notes);
  reader.Get("url", &entry.url);
  reader.Get("shards", &entry.shards);
  reader.Get("builder", &entry.builder);
  reader.Get("split", &split);
  reader.Get("val_fraction", &entry.val_fraction);
  reader.Get("salt", &entry.salt);
  WT_RETURN_IF_ERROR(reader.Finish());
  WT_ASSIGN_OR_RETURN(entry.split, ParseSplitRule(split));
  WT_RETURN_IF_ERROR(CheckEntry(entry));
  return entry;
}

}  // namespace

std::string CorpusEntry::UrlOf(int64_t shard) const {
  const size_t at = url.find(kShardPlace);
  WT_CHECK(at != std::string::npos, "url {}", url);
  const std::string digits = std::to_string(shard);
  return url.substr(0, at) + std::string(5 - std::min<size_t>(digits.size(), 5), '0') + digits +
         url.substr(at + kShardPlace.size());
}

std::string CorpusEntry::FileNameOf(int64_t shard) const {
  const std::string whole = UrlOf(shard);
  const std::string path = whole.substr(0, whole.find_first_of("?#"));
  return path.substr(path.rfind('/') + 1);
}

const KnownFile* CorpusEntry::Known(const std::string& file_name) const {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const KnownFile& file) { return file.name == file_name; });
  return found == files.end() ? nullptr : &*found;
}

Result<std::vector<CorpusEntry>> ReadCorpusList(const std::string& path) {
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseCorpusList(text, path);
}

Result<std::vector<CorpusEntry>> ParseCorpusList(const std::string& toml, const std::string& path) {
  WT_ASSIGN_OR_RETURN(const toml::table table, ParseToml(toml, path));
  const toml::table* corpora = table["corpora"].as_table();
  if (!corpora || table.size() != 1)
    return Error(Code::kInvalidArgument, "{}: expected tables [corpora.NAME] alone", path);
  std::vector<CorpusEntry> entries;
  for (const auto& [key, node] : *corpora) {
    const std::string name(key.str());
    if (!node.is_table())
      return Error(Code::kInvalidArgument, "{}: corpora.{} is not a table", path, name);
    auto entry = ReadEntry(name, *node.as_table());
    if (!entry.ok()) return entry.status().WithContext(fmt::format("{}: corpora.{}", path, name));
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Result<CorpusEntry> FindCorpus(const std::vector<CorpusEntry>& corpora, const std::string& name) {
  std::vector<std::string> names;
  std::string all;
  for (const CorpusEntry& entry : corpora) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
    all += (all.empty() ? "" : ", ") + entry.name;
  }
  const std::string nearest = NearestName(name, names);
  return Error(Code::kNotFound, "no corpus {}{}; known are: {}", name,
               nearest.empty() ? "" : ", did you mean " + nearest + "?", all);
}

CorpusSpec SpecOf(const CorpusEntry& entry, const std::string& folder) {
  CorpusSpec spec;
  spec.name = entry.name;
  spec.train = folder;
  spec.rule = entry.split;
  spec.val_fraction = entry.val_fraction;
  spec.salt = entry.salt;
  return spec;
}

}  // namespace wt::text
