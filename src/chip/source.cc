#include "chip/source.h"

#include <fmt/format.h>

namespace wt::chip {

SourceId SourceTable::Add(const std::string& file, int line, const std::string& function) {
  const auto [place, added] =
      ids_.try_emplace(fmt::format("{}:{}:{}", file, line, function), SourceId(lines_.size()));
  if (added) lines_.push_back({file, line, function});
  return place->second;
}

std::string SourceTable::Describe(SourceId id) const {
  if (id == 0 || id >= lines_.size()) return "";
  const SourceLine& place = lines_[id];
  const size_t slash = place.file.rfind('/');
  return fmt::format(
      "{}:{}", slash == std::string::npos ? place.file : place.file.substr(slash + 1), place.line);
}

}  // namespace wt::chip
