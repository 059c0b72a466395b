#include "text/loader_state.h"

namespace wt::text {
namespace {

bool InRange(const nlohmann::json& value, int64_t low, int64_t high) {
  if (value.is_number_unsigned()) {
    const uint64_t v = value.get<uint64_t>();
    return v <= uint64_t{INT64_MAX} && static_cast<int64_t>(v) >= low &&
           static_cast<int64_t>(v) <= high;
  }
  return value.is_number_integer() && value.get<int64_t>() >= low && value.get<int64_t>() <= high;
}

Status BadState(const std::string& what, const std::string& expected) {
  return Error(Code::kCorrupt,
               "loader state: {} is missing or wrong; expected {}; resume from another checkpoint",
               what, expected);
}

}  // namespace

Result<int64_t> StateInt(const nlohmann::json& state, const std::string& key, int64_t low,
                         int64_t high) {
  const auto found = state.find(key);
  if (found == state.end() || !InRange(*found, low, high)) {
    return BadState("\"" + key + "\"", fmt::format("an integer in [{}, {}]", low, high));
  }
  return found->get<int64_t>();
}

Result<std::vector<int64_t>> StateInts(const nlohmann::json& state, const std::string& key,
                                       int64_t low, int64_t high, int64_t most) {
  const auto found = state.find(key);
  return IntsOf(found == state.end() ? nlohmann::json() : *found, "\"" + key + "\"", low, high,
                most);
}

Result<std::vector<int64_t>> IntsOf(const nlohmann::json& value, const std::string& what,
                                    int64_t low, int64_t high, int64_t most) {
  std::vector<int64_t> ints;
  bool good = value.is_array() && static_cast<int64_t>(value.size()) <= most;
  for (size_t i = 0; good && i < value.size(); ++i) {
    good = InRange(value[i], low, high);
    if (good) ints.push_back(value[i].get<int64_t>());
  }
  if (good) return ints;
  return BadState(what, fmt::format("at most {} integers in [{}, {}]", most, low, high));
}

}  // namespace wt::text
