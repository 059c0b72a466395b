// The cost rules hold the measured instructions within 5 %; bench/instruction_laws prints them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "laws.h"

namespace wt::chip {
namespace {

const std::string kFile = WT_SOURCE_DIR "/data/measurements/instruction_laws.csv";

TEST(InstructionLaws, PredictEveryMeasuredInstructionWithinFivePercent) {
  const auto machine = Machine::Load("trn2");
  ASSERT_TRUE(machine.ok()) << machine.status().message();
  const auto rows = ReadMeasuredInstrs(kFile);
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  EXPECT_GE(rows->size(), 150u);
  int not_held = 0;
  for (const MeasuredInstr& row : *rows) {
    const auto predicted = Predict(**machine, row);
    ASSERT_TRUE(predicted.ok()) << predicted.status().message();
    not_held += !row.held;
    if (!row.held) continue;
    EXPECT_LT(std::abs(ErrorOf(row, *predicted)), 0.05)
        << row.Describe() << ": " << predicted->ns << " ns, measured " << row.measured_ns;
  }
  EXPECT_LE(not_held, 4);
}

TEST(InstructionLaws, AnUnknownNameIsRefused) {
  const auto machine = Machine::Load("trn2");
  ASSERT_TRUE(machine.ok());
  MeasuredInstr row;
  row.line = 7;
  row.instruction = "tensor_cpoy";
  EXPECT_THAT(Predict(**machine, row).status().message(),
              testing::HasSubstr("line 7: tensor_cpoy is not an instruction"));
}

}  // namespace
}  // namespace wt::chip
