// "did you mean": the nearest of a list of names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wt::nki {

// "did you mean moving?", or "expected one of dst, src, …" when nothing is near.
std::string Suggest(std::string_view given, const std::vector<std::string_view>& names);

}  // namespace wt::nki
