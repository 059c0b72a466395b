#include "chip/origin.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files.h"
#include "base/text_util.h"

namespace wt::chip {
namespace {

constexpr size_t kMaxInheritance = 4;

const std::vector<std::string>& EvidenceNames() {
  static const std::vector<std::string> names = {"measured", "published", "derived", "guessed"};
  return names;
}

}  // namespace

const char* EvidenceName(Evidence evidence) {
  return EvidenceNames()[static_cast<size_t>(evidence)].c_str();
}

Status Sources::Read(const toml::table& file) {
  const toml::node* node = file.get("sources");
  if (!node) return {};
  if (!node->is_table()) return NotARow("sources");
  for (const auto& [key, value] : *node->as_table()) {
    const auto text = value.value<std::string>();
    if (!text) return Error(Code::kInvalidArgument, "sources.{}: expected a string", key.str());
    std::erase_if(rows_, [&](const auto& row) { return row.first == key.str(); });
    rows_.emplace_back(std::string(key.str()), *text);
  }
  return {};
}

Status Sources::Check(const std::string& id, const std::string& source) const {
  std::vector<std::string> known;
  for (const auto& [tag, text] : rows_) known.push_back(tag);
  for (const std::string& tag : SplitText(source, ',')) {
    const std::string bare = tag.substr(std::min(tag.find_first_not_of(' '), tag.size()));
    if (std::find(known.begin(), known.end(), bare) != known.end()) continue;
    return Error(Code::kInvalidArgument, "{}: source \"{}\" is not one of [sources]: {}", id, bare,
                 Join(known, ", "));
  }
  return {};
}

Result<Origin> Sources::ReadOrigin(TableReader* reader, const std::string& id) const {
  Origin origin;
  size_t evidence = kNumEvidence;
  reader->Get("source", &origin.source);
  reader->GetChoice("evidence", EvidenceNames(), &evidence);
  reader->Get("note", &origin.note);
  WT_RETURN_IF_ERROR(reader->Finish());
  if (origin.source.empty() || evidence == kNumEvidence) {
    return Error(Code::kInvalidArgument, "{}: source and evidence ({}) are required", id,
                 Join(EvidenceNames(), ", "));
  }
  origin.evidence = Evidence(evidence);
  WT_RETURN_IF_ERROR(Check(id, origin.source));
  return origin;
}

Result<std::vector<toml::table>> ReadInherited(const std::string& path, std::string* text) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  std::vector<toml::table> files;
  for (std::string next = path; !next.empty();) {
    WT_ASSIGN_OR_RETURN(const std::string content, ReadFile(next));
    WT_ASSIGN_OR_RETURN(toml::table file, ParseToml(content, next));
    const toml::node* base = file.get("inherits");
    if ((base && !base->is_string()) || files.size() > kMaxInheritance) {
      return Error(Code::kInvalidArgument,
                   "{}: inherits must name another file of this folder, without a circle", next);
    }
    next =
        base ? (std::filesystem::path(folder) / (base->value_or(std::string()) + ".toml")).string()
             : "";
    files.insert(files.begin(), std::move(file));
    *text += content;
  }
  return files;
}

Result<size_t> FindName(const std::string& name, const std::vector<std::string>& names,
                        const std::string& kind) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  const std::string nearest = NearestName(name, names);
  return Error(Code::kInvalidArgument, "{} is not a {} that this program asks for{}", name, kind,
               nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

Status NotARow(const std::string& id) {
  return Error(Code::kInvalidArgument,
               "{}: expected a table such as {{ value = 1, source = \"T2\", evidence = "
               "\"published\" }}",
               id);
}

}  // namespace wt::chip
