#include "chip/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"

namespace wt::chip {
namespace {

using testing::Contains;
using testing::HasSubstr;

Result<Policy> LoadPolicyText(const std::string& text) {
  const std::string path = testing::TempDir() + fmt::format("/preset_{}.toml", ::getpid());
  WT_CHECK(WriteFileAtomic(path, text).ok(), "{}", path);
  return LoadPolicy(path);
}

std::string Preset(const std::string& rows) {
  return "name = \"mine\"\n[sources]\nME = \"this test\"\n[policy]\n" + rows;
}

TEST(Policy, PresetsDifferInWhatTheirToolChainsDo) {
  EXPECT_THAT(PolicyNames(), Contains("neuronx-cc-2"));
  const auto now = LoadPolicy("nki-0.6"), older = LoadPolicy("neuronx-cc-2"),
             harness = LoadPolicy("benchmark-harness");
  ASSERT_TRUE(now.ok()) << now.status().message();
  ASSERT_TRUE(older.ok()) << older.status().message();
  ASSERT_TRUE(harness.ok()) << harness.status().message();
  EXPECT_EQ(now->name, "nki-0.6");
  EXPECT_LT(now->dma_issue_ns, 0);  // the machine's
  EXPECT_EQ(older->dma_issue_ns, 50);
  EXPECT_EQ(older->psum_copies, now->psum_copies);  // inherited
  EXPECT_LT(older->sbuf_copies, now->sbuf_copies);
  EXPECT_EQ(harness->name, "benchmark-harness");
  EXPECT_EQ(harness->dma_issue_ns, 50);
  EXPECT_EQ(harness->envelope_ns, 11500);
}

TEST(Policy, ReadsEveryKindOfValue) {
  const auto policy = LoadPolicyText(
      Preset("window = { value = 7, source = \"ME\", evidence = \"guessed\" }\n"
             "sbuf_copies = { value = 2.5, source = \"ME\", evidence = \"guessed\" }\n"
             "memset_on_gpsimd = { value = true, source = \"ME\", evidence = \"guessed\" }\n"));
  ASSERT_TRUE(policy.ok()) << policy.status().message();
  EXPECT_EQ(policy->window, 7);
  EXPECT_EQ(policy->sbuf_copies, 2.5);
  EXPECT_TRUE(policy->memset_on_gpsimd);
}

TEST(Policy, AWindowOfThePowerLimitHasOnePhase) {
  EXPECT_THAT(
      LoadPolicyText(
          Preset("limiter_phase = { value = 2, source = \"ME\", evidence = \"guessed\" }\n"))
          .status()
          .message(),
      HasSubstr("limiter_phase is 2; expected above 0, up to 1"));
}

TEST(Policy, MisspeltKeysAreRefusedWithTheNearest) {
  const std::string row = " = { value = 7, source = \"ME\", evidence = \"guessed\" }\n";
  EXPECT_THAT(LoadPolicyText(Preset("windw" + row)).status().message(),
              HasSubstr("did you mean window?"));
  EXPECT_THAT(LoadPolicyText("polcy = 3\n").status().message(), HasSubstr("did you mean policy?"));
  EXPECT_THAT(LoadPolicy("nki-0.7").status().message(), HasSubstr("known: benchmark-harness"));
  EXPECT_THAT(LoadPolicyText(Preset("window = 7\n")).status().message(),
              HasSubstr("policy.window: expected a table"));
}

TEST(Policy, WrongValuesAreRefused) {
  const auto with = [](const std::string& value) {
    return LoadPolicyText(
               Preset("window = { " + value + "source = \"ME\", evidence = \"guessed\" }\n"))
        .status()
        .message();
  };
  EXPECT_THAT(with("value = 0, "), HasSubstr("must be at least 1"));
  EXPECT_THAT(with("value = true, "), HasSubstr("expected a whole number"));
  EXPECT_THAT(with(""), HasSubstr("value is missing"));
}

}  // namespace
}  // namespace wt::chip
