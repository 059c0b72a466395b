#include "chip/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>

#include "base/files.h"
#include "chip/policy.h"

namespace wt::chip {
namespace {

using testing::HasSubstr;

std::string Trn2Text() {
  const auto text = ReadFile(WT_SOURCE_DIR "/data/chips/trn2.toml");
  WT_CHECK(text.ok(), "{}", text.status().message());
  return *text;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  WT_CHECK(at != std::string::npos, "no {} in the file", from);
  return text.replace(at, from.size(), to);
}

// A name for this process alone: the tests of a program run beside each other.
std::string ChipName() { return fmt::format("chip_{}", ::getpid()); }

// What loading `text` says.
Status LoadText(const std::string& text) {
  const std::string path = testing::TempDir() + "/" + ChipName() + ".toml";
  WT_CHECK(WriteFileAtomic(path, text).ok(), "{}", path);
  const Status status = Machine::LoadFile(path).status();
  std::filesystem::remove(path);
  return status;
}

std::shared_ptr<const Machine> Chip(const std::string& name) {
  const auto machine = Machine::Load(name);
  WT_CHECK(machine.ok(), "{}", machine.status().message());
  return *machine;
}

TEST(MachineFile, Trn2HasTheDocumentedGeometry) {
  const auto trn2 = Chip("trn2");
  EXPECT_EQ(trn2->name, "trn2");
  EXPECT_EQ(trn2->generation, Generation::kGen3);
  EXPECT_EQ(trn2->partitions, 128);
  EXPECT_EQ(trn2->sbuf_partition_bytes, 224 << 10);
  EXPECT_EQ(trn2->sbuf_usable_partition_bytes, 208 << 10);
  EXPECT_EQ(trn2->psum_banks * trn2->psum_bank_bytes, 16 << 10);
  EXPECT_EQ(trn2->hbm_bytes, int64_t{24} << 30);
  EXPECT_EQ(trn2->clock_ghz[size_t(Engine::kVector)], 0.96);
  EXPECT_NEAR(trn2->peak_tflops_bf16, 2e-3 * 128 * 128 * 2.4, 1e-9);
  EXPECT_EQ(trn2->hash.size(), 64u);
}

TEST(MachineFile, LawsCountTheirEnginesCycles) {
  const auto trn2 = Chip("trn2");
  const Law& copy = trn2->law(LawId::kVectorCopyPsum);
  EXPECT_NEAR(copy.Completion(512), 156.3 + 512 * 1.0007 / 0.96, 1e-9);
  EXPECT_LT(copy.Interval(512), copy.Completion(512));
  const Law& matmul = trn2->law(LawId::kTensorMatmul);
  EXPECT_NEAR(matmul.Interval(1), 64 / 2.4, 1e-9);  // the least
  EXPECT_GE(matmul.Interval(512), 512 / 2.4);
  EXPECT_GT(matmul.Completion(512), matmul.Interval(512));
}

TEST(MachineFile, LaterChipsInheritAndSayThatItIsDerived) {
  const auto trn2 = Chip("trn2"), trn3 = Chip("trn3"), trn1 = Chip("trn1");
  EXPECT_EQ(trn1->generation, Generation::kGen2);
  EXPECT_EQ(trn3->generation, Generation::kGen4);
  EXPECT_EQ(trn3->sbuf_partition_bytes, 256 << 10);
  EXPECT_EQ(trn3->psum_banks, trn2->psum_banks);
  EXPECT_EQ(trn2->law(LawId::kVectorReduce).origin.evidence, Evidence::kMeasured);
  EXPECT_EQ(trn3->law(LawId::kVectorReduce).origin.evidence, Evidence::kDerived);
  EXPECT_EQ(trn3->law(LawId::kVectorExponential).origin.evidence, Evidence::kPublished);
  // The same cycles on a faster clock.
  EXPECT_NEAR(trn3->law(LawId::kVectorReduce).ns_per_element,
              trn2->law(LawId::kVectorReduce).ns_per_element * 0.96 / 1.2, 1e-9);
  EXPECT_NE(trn2->hash, trn3->hash);
}

TEST(MachineFile, StartPartitions) {
  const auto trn2 = Chip("trn2");
  EXPECT_TRUE(trn2->StartAllowed(96, 32));
  EXPECT_FALSE(trn2->StartAllowed(16, 32));
  EXPECT_TRUE(trn2->StartAllowed(64, 33));
  EXPECT_FALSE(trn2->StartAllowed(32, 33));
  EXPECT_TRUE(trn2->StartAllowed(0, 128));
  EXPECT_FALSE(trn2->StartAllowed(64, 65));
  EXPECT_FALSE(trn2->StartAllowed(0, 129));
}

TEST(MachineFile, ActivationsHaveRangesTableSetsAndLaws) {
  const auto trn2 = Chip("trn2");
  const ActivationRule& sine = trn2->activation(Activation::kSin);
  EXPECT_TRUE(sine.Valid(-3.14));
  EXPECT_FALSE(sine.Valid(9));
  const ActivationRule& reciprocal = trn2->activation(Activation::kReciprocal);
  EXPECT_TRUE(reciprocal.Valid(-1));
  EXPECT_FALSE(reciprocal.Valid(0));
  EXPECT_TRUE(trn2->activation(Activation::kExp).Valid(-1e30));
  EXPECT_EQ(trn2->activation(Activation::kSquare).table_set,
            trn2->activation(Activation::kRsqrt).table_set);
  EXPECT_EQ(trn2->activation(Activation::kCopy).table_set, 0);
  EXPECT_EQ(trn2->table_set_name(trn2->activation(Activation::kSilu).table_set), "silu");
  EXPECT_EQ(trn2->activation(Activation::kSilu).law_psum, LawId::kScalarSiluPsum);
}

TEST(MachineFile, Inventory) {
  const auto trn2 = Chip("trn2");
  EXPECT_EQ(*trn2->Inventory("cores_per_chip"), 8);
  EXPECT_EQ(*Chip("trn1")->Inventory("cores_per_chip"), 2);
  EXPECT_THAT(trn2->Inventory("cors_per_chip").status().message(), HasSubstr("known: "));
}

TEST(MachineFile, MisspeltNamesAreRefusedWithTheNearest) {
  EXPECT_THAT(LoadText(Replaced(Trn2Text(), "copy_f32 =", "copy_f23 =")).message(),
              HasSubstr("vector.copy_f23 is not a law that this program asks for; did you mean "
                        "vector.copy_f32?"));
  EXPECT_THAT(
      LoadText(Replaced(Trn2Text(), "partitions_per_engine", "partitions_per_engin")).message(),
      HasSubstr("did you mean dma.partitions_per_engine?"));
  EXPECT_THAT(LoadText(Replaced(Trn2Text(), "fixed_ns = 160.5", "fixd_ns = 160.5")).message(),
              HasSubstr("did you mean law.vector.copy_f32.fixed_ns?"));
  EXPECT_THAT(LoadText(Replaced(Trn2Text(), "softplus =", "sotfplus =")).message(),
              HasSubstr("did you mean softplus?"));
  EXPECT_THAT(Machine::Load("trn9").status().message(), HasSubstr("known: trn1, trn2, trn3"));
}

TEST(MachineFile, MissingRowsAndWrongFiguresAreRefused) {
  EXPECT_THAT(LoadText(Replaced(Trn2Text(), "reduce = {", "# reduce = {")).message(),
              HasSubstr("rows are missing: law.vector.reduce"));
  EXPECT_THAT(
      LoadText(Replaced(Trn2Text(), "scalar = { value = 1.2", "scalar = { value = 0")).message(),
      HasSubstr("clock.scalar must be over 0"));
  EXPECT_THAT(LoadText(Replaced(Trn2Text(), "fixed_ns = 160.5", "fixed_ns = -1")).message(),
              HasSubstr("no figure of a law may be negative"));
  EXPECT_THAT(
      LoadText(Replaced(Trn2Text(), "engines = { value = 16", "engines = { value = nan")).message(),
      HasSubstr("dma.engines: expected a value"));
  EXPECT_THAT(LoadText(Replaced(Trn2Text(), "generation = 3", "generation = 9")).message(),
              HasSubstr("a generation of 2, 3 or 4"));
}

TEST(MachineFile, EveryRowMustSayWhereItComesFrom) {
  EXPECT_THAT(
      LoadText(Replaced(Trn2Text(), "value = 128, source = \"T2\",", "value = 128,")).message(),
      HasSubstr("memory.partitions: source and evidence"));
  EXPECT_THAT(LoadText(Replaced(Trn2Text(), "source = \"T2\"", "source = \"T9\"")).message(),
              HasSubstr("source \"T9\" is not one of [sources]"));
  EXPECT_THAT(LoadText(Replaced(Trn2Text(), "\"published\" }", "\"rumoured\" }")).message(),
              HasSubstr("expected measured, published, derived, guessed"));
}

TEST(MachineFile, ACircleOfInheritanceIsRefused) {
  EXPECT_THAT(LoadText("name = \"chip\"\ninherits = \"" + ChipName() + "\"\n").message(),
              HasSubstr("without a circle"));
  EXPECT_THAT(LoadText("inherits = \"nowhere\"\n").message(), HasSubstr("nowhere.toml"));
}

}  // namespace
}  // namespace wt::chip
