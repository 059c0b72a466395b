#include "chip/machine_laws.h"

#include <array>

namespace wt::chip {
namespace {

#define WT_CHIP_NAME(id, name) name,
constexpr std::array<std::string_view, kNumLaws> kLawNames = {WT_CHIP_LAWS(WT_CHIP_NAME)};
constexpr std::array<std::string_view, kNumConstants> kConstantNames = {
    WT_CHIP_CONSTANTS(WT_CHIP_NAME)};
#undef WT_CHIP_NAME

}  // namespace

std::string_view LawName(LawId id) { return kLawNames[static_cast<size_t>(id)]; }
std::string_view ConstantName(ConstantId id) { return kConstantNames[static_cast<size_t>(id)]; }

}  // namespace wt::chip
