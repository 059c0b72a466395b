#include "nki/run_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "nki/npy.h"

namespace wt::nki {
namespace {

using ::testing::HasSubstr;

std::string WriteKernel(const std::string& text) {
  static int count = 0;
  const std::string path = testing::TempDir() + fmt::format("kernel_{}_{}.py", ::getpid(), count++);
  std::ofstream(path) << "import nki\nimport nki.language as nl\nimport nki.isa as nisa\n" << text;
  return path;
}

constexpr const char* kCopy = R"(
@nki.jit
def copy(x, scale=1):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    assert scale == 3, scale
    return out
)";

KernelRun MakeRun(const std::string& text, std::vector<std::string> args) {
  KernelRun run;
  run.file = WriteKernel(text);
  for (const std::string& arg : args) {
    auto parsed = ParseKernelArg(arg, {});
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    run.args.push_back(*parsed);
  }
  return run;
}

struct Counter : chip::CoreObserver {
  int allocated = 0, released = 0, issued = 0;
  void OnAllocate(const chip::Tensor&) override { ++allocated; }
  void OnRelease(const chip::Tensor&) override { ++released; }
  void OnInstr(const chip::Machine&, const chip::Instr&) override { ++issued; }
};

TEST(RunKernelTest, CopiesAndIsObserved) {
  KernelRun run = MakeRun(kCopy, {"x=128x64:bf16", "scale=3"});
  Counter counter;
  run.attach = [&](chip::Core& core) { core.AddObserver(&counter); };
  const auto result = RunKernel(run);
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result->outputs.size(), 1u);
  EXPECT_EQ(result->outputs[0].name, "out");
  EXPECT_EQ(result->outputs[0].array.bytes, std::get<HostArray>(run.args[0].value).bytes);
  EXPECT_EQ(counter.issued, 2);
  EXPECT_EQ(counter.allocated, 3);
  EXPECT_EQ(counter.released, 3);
  EXPECT_EQ(result->num_instructions[0], 2u);
  EXPECT_EQ(result->machine->name, "trn2");
}

TEST(RunKernelTest, ShapesOnly) {
  KernelRun run = MakeRun(kCopy, {"scale=3"});
  run.options.values = false;
  run.args.push_back(*ParseKernelArg("x=128x64:f32", {.seed = 0, .values = false}));
  const auto result = RunKernel(run);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(result->outputs[0].array.bytes.empty());
  EXPECT_EQ(result->outputs[0].array.shape, (std::vector<int64_t>{128, 64}));
}

TEST(RunKernelTest, ErrorsCarryClassAndTraceback) {
  const KernelRun run = MakeRun(R"(
def helper(x):
    return x[:, nl.ds(0, 100)]
@nki.jit
def kernel(x):
    helper(x)
)",
                                {"x=128x64:f32"});
  const Status status = RunKernel(run).status();
  EXPECT_EQ(chip::ClassOf(status), chip::ErrorClass::kOutOfBounds) << status.message();
  EXPECT_THAT(status.message(), HasSubstr("in helper"));
  EXPECT_THAT(status.message(), HasSubstr("return x[:, nl.ds(0, 100)]"));
}

TEST(RunKernelTest, PythonErrorsToo) {
  const Status status = RunKernel(MakeRun(kCopy, {"x=8x4:f32", "scale=2"})).status();
  EXPECT_THAT(status.message(), HasSubstr("AssertionError: 2"));
  EXPECT_THAT(RunKernel(MakeRun(kCopy, {})).status().message(), HasSubstr("missing 1 required"));
  EXPECT_THAT(RunKernel(MakeRun("def broken(:\n", {})).status().message(),
              HasSubstr("SyntaxError"));
}

TEST(RunKernelTest, NamesWhatIsThere) {
  KernelRun run = MakeRun(kCopy, {"x=8x4:f32", "scale=3"});
  run.function = "cpoy";
  EXPECT_THAT(RunKernel(run).status().message(), HasSubstr("did you mean copy?"));
  run.file = "nowhere.py";
  EXPECT_EQ(RunKernel(run).status().code(), Code::kNotFound);
}

TEST(RunKernelTest, InstructionLimit) {
  KernelRun run = MakeRun(R"(
@nki.jit
def kernel(x):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    while True:
        nisa.memset(tile, value=0.0)
)",
                          {"x=128x64:f32"});
  run.options.max_instructions = 1000;
  const Status status = RunKernel(run).status();
  EXPECT_EQ(chip::ClassOf(status), chip::ErrorClass::kLimit) << status.message();
  EXPECT_EQ(status.code(), Code::kCapacity);
}

TEST(RunKernelTest, ArgumentsWrittenToComeBack) {
  const auto result = RunKernel(MakeRun(R"(
@nki.jit
def kernel(x, y):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=y, src=tile)
)",
                                        {"x=16x4:f32", "y=16x4:f32"}));
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result->outputs.size(), 1u);
  EXPECT_EQ(result->outputs[0].name, "y");
}

TEST(RunKernelTest, TwoCoresShareHbm) {
  KernelRun run = MakeRun(R"(
@nki.jit
def kernel(x):
    rank = nl.program_id(0)
    assert nl.num_programs() == 2
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((64, 4), dtype=x.dtype, buffer=nl.sbuf)
    half = slice(rank * 64, rank * 64 + 64)
    nisa.dma_copy(dst=tile, src=x[half])
    nisa.dma_copy(dst=out[half], src=tile)
    return out
)",
                          {"x=128x4:f32"});
  run.cores = 2;
  const auto result = RunKernel(run);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->outputs[0].array.bytes, std::get<HostArray>(run.args[0].value).bytes);
  EXPECT_EQ(result->num_instructions, (std::vector<uint64_t>{2, 2}));
}

TEST(RunKernelTest, AnErrorOnOneCoreEndsBoth) {
  KernelRun run = MakeRun(R"(
@nki.jit
def kernel(x):
    tile = nl.ndarray((64, 4), dtype=x.dtype, buffer=nl.sbuf)
    if nl.program_id(0) == 1:
        raise KeyError("core 1")
    while True:
        nisa.dma_copy(dst=tile, src=x[0:64])
        if nl.program_id(0) == 0:
            break
)",
                          {"x=128x4:f32"});
  run.cores = 2;
  EXPECT_THAT(RunKernel(run).status().message(), HasSubstr("KeyError: 'core 1'"));
}

TEST(RunFunctionTest, CallsAReference) {
  const std::string file = WriteKernel("def twice(x):\n    return x + x, {'ignored': 1}\n");
  const auto result = RunFunction(file, "twice", {*ParseKernelArg("x=4x4:f32", {})});
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result->size(), 1u);
  EXPECT_EQ((*result)[0].shape, (std::vector<int64_t>{4, 4}));
}

TEST(ArgSpecTest, RandomValuesDependOnSeedAndNameOnly) {
  const auto bytes = [](const std::string& text, uint64_t seed) {
    return std::get<HostArray>(ParseKernelArg(text, {.seed = seed})->value).bytes;
  };
  EXPECT_EQ(bytes("a=8x8:bfloat16", 1), bytes("a=8,8:bf16", 1));
  EXPECT_NE(bytes("a=8x8:bf16", 1), bytes("a=8x8:bf16", 2));
  EXPECT_NE(bytes("a=8x8:bf16", 1), bytes("b=8x8:bf16", 1));
}

TEST(ArgSpecTest, RefusesWithWords) {
  EXPECT_THAT(ParseKernelArg("8x8:f32", {}).status().message(), HasSubstr("name=SHAPE:DTYPE"));
  EXPECT_THAT(ParseKernelArg("x=8x8:f99", {}).status().message(), HasSubstr("element type"));
  EXPECT_THAT(ParseKernelArg("x=0x8:f32", {}).status().message(), HasSubstr("at least 1"));
  EXPECT_EQ(std::get<std::string>(ParseKernelArg("mode=a:b", {})->value), "a:b");
}

TEST(NpyTest, RoundTripAndRawBytes) {
  HostArray array = std::get<HostArray>(ParseKernelArg("x=3x5:bf16", {})->value);
  const std::string path = testing::TempDir() + fmt::format("array_{}.npy", ::getpid());
  ASSERT_TRUE(WriteNpy(path, array).ok());
  EXPECT_THAT(ReadNpy(path).status().message(), HasSubstr("no NKI type"));
  const auto read = ReadNpy(path, DType::kBF16);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->bytes, array.bytes);
  EXPECT_EQ(read->shape, array.shape);
  EXPECT_EQ(ReadNpy(path, DType::kF32).status().code(), Code::kMismatch);
}

TEST(NpyTest, DamagedFilesAreRefused) {
  const std::string path = testing::TempDir() + fmt::format("damaged_{}.npy", ::getpid());
  ASSERT_TRUE(WriteNpy(path, std::get<HostArray>(ParseKernelArg("x=4:f32", {})->value)).ok());
  std::ifstream file(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  for (size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, length);
    EXPECT_FALSE(ReadNpy(path).ok()) << length;
  }
  for (size_t i = 0; i < 128; ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x2f);
    std::ofstream(path, std::ios::binary) << changed;
    (void)ReadNpy(path);  // whatever it is, an answer
  }
}

}  // namespace
}  // namespace wt::nki
