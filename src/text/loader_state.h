// Reading the loaders' saved states (JSON text): typed, bounded, never throwing.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/status.h"

namespace wt::text {

// state[key], an integer in [low, high].
Result<int64_t> StateInt(const nlohmann::json& state, const std::string& key, int64_t low,
                         int64_t high);
// state[key], a list of at most `most` integers in [low, high].
Result<std::vector<int64_t>> StateInts(const nlohmann::json& state, const std::string& key,
                                       int64_t low, int64_t high, int64_t most);
// `value` as such a list; `what` names it in the message.
Result<std::vector<int64_t>> IntsOf(const nlohmann::json& value, const std::string& what,
                                    int64_t low, int64_t high, int64_t most);

}  // namespace wt::text
