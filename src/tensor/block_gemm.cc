// Which block product this processor runs: CPUID, the operating system's consent, a self-check.
#include "tensor/block_gemm.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/random.h"
#include "tensor/block_gemm_isa.h"
#include "tensor/cpu.h"
#include "tensor/scratch.h"
#include "tensor/simd.h"

namespace wt::tensor {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"plain", "avx2", "avx512", "avx512_bf16",
                                                    "amx"};
constexpr const char* kEnvironment = "WINDTUNNEL_ISA";

std::vector<float> RandomValues(int64_t n, uint64_t stream) {
  Philox random(1, stream);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = BF16(random.NextNormal());
  return values;
}

// The shortest of several turns of one small product: seconds.
double ShortestProduct(const BlockGemm& gemm) {
  const int64_t m = 4 * gemm.mr, n = 4 * gemm.nr, k = 256;
  const auto a = RandomValues(m * k, 0), b = RandomValues(k * n, 1);
  Scratch packed_a, packed_b;
  void* pa = packed_a.Reserve(gemm.packed_a_bytes(m, k));
  void* pb = packed_b.Reserve(gemm.packed_b_bytes(k, n));
  gemm.pack_a(RowMajor(a.data(), DType::kF32, m, k), pa);
  gemm.pack_b(RowMajor(b.data(), DType::kF32, k, n), pb);
  std::vector<float> c(static_cast<size_t>(m * n));
  double shortest = 1;
  for (int turn = 0; turn < 20; ++turn) {
    const auto start = std::chrono::steady_clock::now();
    gemm.run(m, n, k, pa, pb, c.data(), n, true);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    shortest = std::min(shortest, took.count() / static_cast<double>(m * n * k));
  }
  return shortest;
}

// Which of bf16 and fp32 products a processor does faster differs by kind, by a factor of about two
// either way: far enough apart for a short measurement to end alike every time.
bool IsFaster(const BlockGemm& gemm, const BlockGemm& than) {
  return ShortestProduct(gemm) < 0.8 * ShortestProduct(than);
}

std::vector<const BlockGemm*> Detect() {
  const CpuFeatures& cpu = Cpu();
  std::vector<const BlockGemm*> found = {PlainBlockGemm()};
  const auto add = [&](bool runs, const BlockGemm* gemm) {
    if (!runs || gemm == nullptr) return;
    if (BlockGemmIsSound(*gemm)) {
      found.push_back(gemm);
    } else {
      fmt::print(stderr,
                 "windtunnel: the {} matrix kernel gave wrong sums on this processor and is not "
                 "used; please report this with the output of lscpu\n",
                 gemm->name);
    }
  };
  add(cpu.avx2, Avx2BlockGemm());
  add(cpu.avx512, Avx512BlockGemm());
  add(cpu.avx512_bf16, Avx512BF16BlockGemm());
  if (found.back()->bf16_products && !IsFaster(*found.back(), *found[found.size() - 2]))
    std::swap(found.back(), found[found.size() - 2]);
  add(cpu.amx_bf16 && AskForAmx(), AmxBlockGemm());
  return found;
}

const BlockGemm* FastestExact() {
  const auto& all = AvailableBlockGemms();
  return *std::find_if(all.rbegin(), all.rend(), [](auto* gemm) { return !gemm->bf16_products; });
}

void Append(std::string& list, std::string_view name) {
  if (!list.empty()) list += ", ";
  list += name;
}

std::string KnownNames() {
  std::string list;
  for (std::string_view name : kNames) Append(list, name);
  return list;
}

std::string AvailableNames() {
  std::string list;
  for (const BlockGemm* gemm : AvailableBlockGemms()) Append(list, gemm->name);
  return list;
}

Result<const BlockGemm*> Find(std::string_view name) {
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
    return Error(Code::kInvalidArgument, "instruction set '{}' is not known; expected one of {}",
                 name, KnownNames());
  }
  for (const BlockGemm* gemm : AvailableBlockGemms()) {
    if (name == gemm->name) return gemm;
  }
  return Error(
      Code::kUnsupported,
      "instruction set '{}' cannot run on this processor or is not in this build; it can run "
      "{}",
      name, AvailableNames());
}

const BlockGemm* FromEnvironment() {
  const char* name = std::getenv(kEnvironment);
  if (name == nullptr || *name == '\0') return AvailableBlockGemms().back();
  const auto found = Find(name);
  if (found.ok()) {
    // "plain" is the whole program without vector instructions of our choosing.
    if (*found == PlainBlockGemm()) DisableVectorTargets();
    return *found;
  }
  fmt::print(stderr, "windtunnel: {}: {}; using {}\n", kEnvironment, found.status().message(),
             AvailableBlockGemms().back()->name);
  return AvailableBlockGemms().back();
}

std::atomic<const BlockGemm*>& Active() {
  static std::atomic<const BlockGemm*> active{FromEnvironment()};
  return active;
}

std::vector<float> Product(const BlockGemm& gemm, const ConstMatrix& a, const ConstMatrix& b) {
  Scratch packed_a, packed_b;
  void* pa = packed_a.Reserve(gemm.packed_a_bytes(a.rows, a.cols));
  void* pb = packed_b.Reserve(gemm.packed_b_bytes(b.rows, b.cols));
  gemm.pack_a(a, pa);
  gemm.pack_b(b, pb);
  std::vector<float> c(static_cast<size_t>(a.rows * b.cols), 1.0f);
  gemm.run(a.rows, b.cols, a.cols, pa, pb, c.data(), b.cols, true);
  return c;
}

}  // namespace

bool BlockGemmIsSound(const BlockGemm& gemm) {
  const int64_t m = gemm.mr + 3, n = gemm.nr + 5, k = 71;
  const auto a = RandomValues(m * k, 0), b = RandomValues(k * n, 1);
  const ConstMatrix column_major_b = {b.data(), DType::kF32, k, n, 1, k};
  const ConstMatrix row_major_a = RowMajor(a.data(), DType::kF32, m, k);
  const auto want = Product(*PlainBlockGemm(), row_major_a, column_major_b);
  const auto got = Product(gemm, row_major_a, column_major_b);
  for (size_t i = 0; i < want.size(); ++i) {
    if (!(std::abs(got[i] - want[i]) <= 1e-3f)) return false;
  }
  return true;
}

const std::vector<const BlockGemm*>& AvailableBlockGemms() {
  static const std::vector<const BlockGemm*> available = Detect();
  return available;
}

const BlockGemm& ActiveBlockGemm(bool f32_exact) {
  const BlockGemm* active = Active().load(std::memory_order_relaxed);
  if (!f32_exact || !active->bf16_products) return *active;
  static const BlockGemm* exact = FastestExact();
  return *exact;
}

Status SetBlockGemm(std::string_view name) {
  WT_ASSIGN_OR_RETURN(const BlockGemm* gemm, Find(name));
  UseBlockGemm(*gemm);
  return {};
}

void UseBlockGemm(const BlockGemm& gemm) { Active().store(&gemm, std::memory_order_relaxed); }

Status CheckBlockGemmEnvironment() {
  const char* name = std::getenv(kEnvironment);
  if (name == nullptr || *name == '\0') return {};
  WT_RETURN_IF_ERROR(Find(name).status().WithContext(kEnvironment));
  Active();
  return {};
}

}  // namespace wt::tensor
