#include "chip/program_file.h"

#include "base/crc32c.h"
#include "base/random.h"
#include "chip/schedule_testing.h"

namespace wt::chip {
namespace {

Program Sample() {
  ProgramBuilder b;
  const auto in = b.Hbm(), x = b.Sbuf(64), y = b.Psum(2048);
  b.Load(x, 64, in);
  b.Tensor(100).Weights(x, 10).Writes(y).After(0);
  b.Any(20).Reads(y).Group(3).Flags(kSharesPort);
  b.Release(x);
  auto sources = std::make_shared<SourceTable>();
  b.last().source = sources->Add("kernel.py", 12, "kernel");
  b.program().sources = sources;
  return b.program();
}

TEST(ProgramFile, AProgramComesBackAsItWas) {
  const Program program = Sample();
  const auto again = ReadProgram(WriteProgram(program));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(WriteProgram(*again), WriteProgram(program));
  EXPECT_EQ(again->size(), program.size());
  EXPECT_EQ(again->decls, program.decls);
  EXPECT_EQ(again->sources->Describe(again->instrs[2].source), "kernel.py:12");
  EXPECT_EQ(RunSchedule(*again).result.latency_ns, RunSchedule(program).result.latency_ns);
}

TEST(ProgramFile, SavesAndLoads) {
  const std::string path = testing::TempDir() + "program_file_test.wtprog";
  ASSERT_TRUE(SaveProgram(Sample(), path).ok());
  EXPECT_TRUE(LoadProgram(path).ok());
  const auto missing = LoadProgram(path + ".not");
  EXPECT_FALSE(missing.ok());
}

TEST(ProgramFile, RefusesOtherFilesAndVersions) {
  EXPECT_EQ(ReadProgram("").status().code(), Code::kCorrupt);
  EXPECT_EQ(ReadProgram("WTPROGRM").status().code(), Code::kCorrupt);
  std::string bytes = WriteProgram(Sample());
  bytes[8] = 99;
  const auto newer = ReadProgram(bytes);
  ASSERT_FALSE(newer.ok());
  EXPECT_NE(newer.status().message().find("version 99"), std::string::npos);
}

TEST(ProgramFile, RefusesWhatWasCutOrChanged) {
  const std::string bytes = WriteProgram(Sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadProgram(std::string_view(bytes).substr(0, size)).ok()) << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] ^= 0x10;
    EXPECT_FALSE(ReadProgram(changed).ok()) << at;
  }
}

// Behind a right checksum anything may stand: it is refused or it is scheduled, nothing else.
TEST(ProgramFile, NonsenseWithARightChecksumIsRefusedOrHarmless) {
  const std::string bytes = WriteProgram(Sample());
  Philox random(11, 0);
  for (int i = 0; i < 3000; ++i) {
    std::string changed = bytes.substr(0, bytes.size() - 4);
    for (int k = 0; k < 3; ++k) {
      changed[12 + random.NextBelow(changed.size() - 12)] =
          static_cast<char>(random.NextBelow(256));
    }
    const uint32_t crc = Crc32c(changed);
    changed.append(reinterpret_cast<const char*>(&crc), sizeof crc);
    const auto program = ReadProgram(changed);
    if (program.ok()) (void)Schedule(SmallMachine(), SmallPolicy(), *program).ok();
  }
}

}  // namespace
}  // namespace wt::chip
