#include "train/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/random.h"
#include "train/test_util.h"

namespace wt::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kWhen[] = "2026-01-01T00:00:00.000Z";

void AppendRows(const std::string& path, int rows) {
  auto ledger = Ledger::Open(path);
  ASSERT_TRUE(ledger.ok()) << ledger.status().message();
  for (int i = 0; i < rows; ++i) {
    ASSERT_TRUE(ledger->Append(0.1, ChargeReason::kStep, "abc", kWhen).ok());
  }
}

TEST(Ledger, TotalContinuesFromItsRowsWithoutRounding) {
  TempFolder folder;
  for (int round = 0; round < 10; ++round) AppendRows(folder / "ledger.jsonl", 30);
  const auto ledger = Ledger::Open(folder / "ledger.jsonl");
  EXPECT_EQ(ledger->total(), 30.0);  // a plain sum of 300 times 0.1 is not
  EXPECT_EQ(ledger->rows(), 300u);
}

TEST(Ledger, RowsHaveTheDocumentedFields) {
  TempFolder folder;
  AppendRows(folder / "ledger.jsonl", 1);
  EXPECT_EQ(*ReadFile(folder / "ledger.jsonl"),
            "{\"when\":\"2026-01-01T00:00:00.000Z\",\"seconds\":0.1,\"reason\":\"step\","
            "\"program\":\"abc\",\"total\":0.1}\n");
  const auto charges = ReadLedger(folder / "ledger.jsonl");
  ASSERT_EQ(charges->size(), 1u);
  EXPECT_EQ(charges->at(0).reason, ChargeReason::kStep);
  EXPECT_EQ(charges->at(0).program, "abc");
}

// Whatever prefix of the file a killed process left, all whole rows count and appending goes on.
TEST(Ledger, TornLastLineIsCut) {
  TempFolder folder;
  AppendRows(folder / "whole", 4);
  const std::string whole = *ReadFile(folder / "whole");
  const size_t row = whole.find('\n') + 1;
  for (size_t bytes = 0; bytes <= whole.size(); bytes += 37) {
    ASSERT_TRUE(WriteFileAtomic(folder / "torn", whole.substr(0, bytes)).ok());
    const size_t rows_left =
        static_cast<size_t>(std::count(whole.begin(), whole.begin() + bytes, '\n'));
    AppendRows(folder / "torn", 1);
    const auto charges = ReadLedger(folder / "torn");
    ASSERT_TRUE(charges.ok()) << charges.status().message();
    EXPECT_EQ(charges->size(), rows_left + 1) << bytes << " of " << row;
  }
}

TEST(Ledger, ZerosAfterAPowerCutAreCut) {
  TempFolder folder;
  AppendRows(folder / "ledger", 2);
  const std::string text = *ReadFile(folder / "ledger");
  ASSERT_TRUE(WriteFileAtomic(folder / "ledger", text + std::string(300, '\0')).ok());
  EXPECT_EQ(Ledger::Open(folder / "ledger")->rows(), 2u);
  EXPECT_EQ(*ReadFile(folder / "ledger"), text);
}

TEST(Ledger, DamageInTheMiddleIsAnErrorAndChangesNothing) {
  TempFolder folder;
  AppendRows(folder / "ledger", 3);
  std::string text = *ReadFile(folder / "ledger");
  text[text.find('\n') + 1] = '#';
  ASSERT_TRUE(WriteFileAtomic(folder / "ledger", text).ok());
  const auto ledger = Ledger::Open(folder / "ledger");
  EXPECT_EQ(ledger.status().code(), Code::kCorrupt);
  EXPECT_THAT(ledger.status().message(), HasSubstr("ledger:2: not a JSON object"));
  EXPECT_EQ(*ReadFile(folder / "ledger"), text);
}

TEST(Ledger, AnEditedRowIsFound) {
  TempFolder folder;
  AppendRows(folder / "ledger", 3);
  std::string text = *ReadFile(folder / "ledger");
  text.replace(text.find("0.1"), 3, "0.0");
  ASSERT_TRUE(WriteFileAtomic(folder / "ledger", text).ok());
  EXPECT_THAT(Ledger::Open(folder / "ledger").status().message(),
              AllOf(HasSubstr("ledger:1: total is 0.1"), HasSubstr("expected the sum")));
}

TEST(Ledger, MissingFieldsAreNamed) {
  TempFolder folder;
  ASSERT_TRUE(WriteFileAtomic(folder / "ledger", "{\"seconds\":1}\n").ok());
  EXPECT_THAT(Ledger::Open(folder / "ledger").status().message(),
              HasSubstr("expected when, seconds, reason, program and total"));
  EXPECT_EQ(Ledger::Open(folder / "no/such/folder").status().code(), Code::kIo);
}

TEST(JsonlFile, FullDiskLeavesWholeRows) {
  TempFolder folder;
  AppendRows(folder / "ledger", 3);
  const std::string before = *ReadFile(folder / "ledger");
  auto ledger = Ledger::Open(folder / "ledger");
  {
    const FileSizeLimit limit(before.size() + 40);  // room for a part of the next row
    EXPECT_FALSE(ledger->Append(1, ChargeReason::kStep, "abc", kWhen).ok());
  }
  EXPECT_EQ(*ReadFile(folder / "ledger"), before);
  EXPECT_TRUE(ledger->Append(1, ChargeReason::kStep, "abc", kWhen).ok());
  EXPECT_EQ(ReadLedger(folder / "ledger")->size(), 4u);
}

TEST(JsonlFile, OnlyRegularFiles) {
  std::vector<Json> rows;
  EXPECT_EQ(JsonlFile::Open("/dev/zero", &rows).status().code(), Code::kIo);
}

}  // namespace
}  // namespace wt::train
