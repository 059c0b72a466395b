#include "chip/isa_doc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "chip/cost/rules.h"

namespace wt::chip {
namespace {

using testing::HasSubstr;

std::string Isa() {
  const auto machine = Machine::Load("trn2");
  WT_CHECK(machine.ok(), "{}", machine.status().message());
  return IsaMarkdown(**machine);
}

// Set WT_UPDATE_DOCS=1 to write the page anew after a change of a table.
void ExpectPageIsCurrent(const std::string& name, const std::string& text) {
  const std::string path = WT_SOURCE_DIR "/docs/" + name;
  if (std::getenv("WT_UPDATE_DOCS")) {
    ASSERT_TRUE(WriteFileAtomic(path, text).ok());
  }
  const auto page = ReadFile(path);
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_TRUE(*page == text) << "run WT_UPDATE_DOCS=1 chip_test --gtest_filter='IsaDoc*' to renew "
                             << path;
}

TEST(IsaDoc, PageIsCurrent) { ExpectPageIsCurrent("ISA.md", Isa()); }
TEST(IsaDoc, ErrorPageIsCurrent) { ExpectPageIsCurrent("ERRORS.md", ErrorsMarkdown()); }

TEST(IsaDoc, ShowsLegalityLawsAndEvidence) {
  const std::string page = Isa();
  EXPECT_THAT(page, HasSubstr("### tensor_copy\n"));
  EXPECT_THAT(page, HasSubstr("* `vector.copy_f32`: 160.5 + 0.5207 N ns; engine taken"));
  EXPECT_THAT(page, HasSubstr("| `sin` | sin | `scalar.activation` | -3.142 to 3.142 |"));
  EXPECT_THAT(page, HasSubstr("| `dma.engines` | 16 | published |"));
}

TEST(IsaDoc, EveryInstructionHasSemanticsAndACostRule) {
  for (const InstrDef* def : AllInstrs()) {
    EXPECT_NE(def->execute, nullptr) << def->name;
    EXPECT_STRNE(def->summary, "") << def->name;
    const cost::CostRule* rule = cost::FindCostRule(def->name);
    ASSERT_NE(rule, nullptr) << def->name;
    EXPECT_EQ(def->cost, rule->function) << def->name;
  }
}

}  // namespace
}  // namespace wt::chip
