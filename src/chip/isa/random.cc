// Random numbers: rng, rand2 and dropout draw, set_rng_seed, rand_set_state and rand_get_state
// steer. Lane p of an engine belongs to partition p of the memory; each lane draws one number an
// element, in the order of the elements.
#include "chip/cost_rules.h"
#include "chip/execute.h"
#include "chip/isa/generator.h"
#include "chip/isa/operand_checks.h"
#include "chip/isa/rows.h"
#include "chip/machine.h"

namespace wt::chip::isa {
namespace random {
namespace {

constexpr int64_t kXorwowWords = 6;
constexpr int64_t kVectorStates = 4;  // XORWOW states of a Vector lane, used in turn

bool VectorHasXorwow(const Machine& machine) { return machine.generation >= Generation::kGen4; }

Engine EngineOf(const Instr& instr, Engine otherwise) {
  return instr.engine == Engine::kUnknown ? otherwise : instr.engine;
}

// The lane of partition p of an operand.
size_t LaneOf(const AccessPattern& operand, int64_t p) {
  const auto& address = operand.tensor->address;
  return static_cast<size_t>(operand.start_partition + p + (address ? address->partition : 0));
}

// Calls use(index, drawn) for every element of `like`, lane by lane; next(lane, i) draws.
template <class Next, class Use>
void DrawLanes(const AccessPattern& like, const Next& next, const Use& use) {
  const int64_t width = like.free_elements();
  size_t at = 0;
  for (int64_t p = 0; p < like.partitions(); ++p) {
    const size_t lane = LaneOf(like, p);
    for (int64_t i = 0; i < width; ++i, ++at) use(at, next(lane, static_cast<size_t>(i)));
  }
}

template <class Use>
void Draw(ExecuteContext& context, Engine engine, const AccessPattern& like, const Use& use) {
  ExecuteState& state = context.state();
  if (engine == Engine::kGpSimd) {
    DrawLanes(
        like, [&](size_t lane, size_t) { return NextXorwow(state.gpsimd_random[lane]); }, use);
  } else if (VectorHasXorwow(context.machine())) {
    const auto next = [&](size_t lane, size_t i) {
      return NextXorwow(state.vector_xorwow[lane][i % kVectorStates]);
    };
    DrawLanes(like, next, use);
  } else {
    DrawLanes(
        like, [&](size_t lane, size_t) { return NextXorshift32(state.vector_random[lane]); }, use);
  }
}

// Engine::kGpSimd only where the row's generation allows it, with dst in SBUF.
Status CheckGpSimd(const Machine& machine, const Instr& instr, int operand) {
  if (machine.generation < Generation::kGen3) {
    return KernelError(ErrorClass::kGeneration,
                       "{}: GpSimd has no random numbers on {}; expected generation 3 or later: "
                       "use engine vector",
                       instr.def->name, machine.name);
  }
  if (instr.operand(operand).tensor->memory == Memory::kSbuf) return {};
  return KernelError(ErrorClass::kMemory, "{} is in PSUM, which GpSimd cannot reach; expected SBUF",
                     OperandName(instr, operand));
}

// rng -------------------------------------------------------------------------------------------

constexpr Param kRngParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum,
     Types({DType::kI8, DType::kI16, DType::kI32, DType::kU8, DType::kU16, DType::kU32})},
    {"engine", ParamKind::kEngine, "vector"},
    kNameParam,
};

Status CheckRng(const Machine& machine, const Instr& instr) {
  if (EngineOf(instr, Engine::kVector) != Engine::kGpSimd) return {};
  return CheckGpSimd(machine, instr, rng::kDst);
}

Status ExecuteRng(ExecuteContext& context, const Instr& instr) {
  const AccessPattern& dst = instr.operand(rng::kDst);
  std::vector<uint32_t> bits(static_cast<size_t>(dst.elements()));
  Draw(context, EngineOf(instr, Engine::kVector), dst,
       [&](size_t i, uint32_t drawn) { bits[i] = drawn; });
  context.WriteBits(rng::kDst, bits);
  return {};
}

// rand2 -----------------------------------------------------------------------------------------

constexpr Param kRand2Params[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum,
     Types({DType::kF8E4M3, DType::kF8E5M2, DType::kF16, DType::kBF16, DType::kF32, DType::kTF32,
            DType::kI8, DType::kI16, DType::kI32, DType::kU8, DType::kU16, DType::kU32})},
    {"min", ParamKind::kSrcOrFloat, nullptr, kInSbuf | kInPsum, Types({DType::kF32})},
    {"max", ParamKind::kSrcOrFloat, nullptr, kInSbuf | kInPsum, Types({DType::kF32})},
    kNameParam,
};

Status CheckRand2(const Machine&, const Instr& instr) {
  WT_RETURN_IF_ERROR(CheckColumn(instr, rand2::kMin, rand2::kDst));
  WT_RETURN_IF_ERROR(CheckColumn(instr, rand2::kMax, rand2::kDst));
  const Arg& least = ArgOf(instr, rand2::kMin);
  const Arg& most = ArgOf(instr, rand2::kMax);
  if (!least.is_number() || !most.is_number() || least.number() < most.number()) return {};
  return KernelError(ErrorClass::kArgument, "rand2: min is {}, max is {}; expected min < max",
                     least.number(), most.number());
}

Status ExecuteRand2(ExecuteContext& context, const Instr& instr) {
  const AccessPattern& dst = instr.operand(rand2::kDst);
  WT_ASSIGN_OR_RETURN(const std::vector<float> least,
                      context.ReadScalars(rand2::kMin, dst.partitions()));
  WT_ASSIGN_OR_RETURN(const std::vector<float> most,
                      context.ReadScalars(rand2::kMax, dst.partitions()));
  const auto width = static_cast<size_t>(dst.free_elements());
  std::vector<float> values(static_cast<size_t>(dst.elements()));
  Draw(context, Engine::kVector, dst, [&](size_t i, uint32_t drawn) {
    const size_t p = i / width;
    values[i] = least[p] + ToUniform(drawn) * (most[p] - least[p]);
  });
  context.WriteFloats(rand2::kDst, values);
  return {};
}

// dropout ---------------------------------------------------------------------------------------

constexpr Param kDropoutParams[] = {
    {"dst", ParamKind::kDst},
    {"data", ParamKind::kSrc},
    {"prob", ParamKind::kSrcOrFloat, nullptr, kInSbuf | kInPsum, kFloatTypes},
    kNameParam,
};

Status CheckDropout(const Machine&, const Instr& instr) {
  using namespace dropout;  // NOLINT
  WT_RETURN_IF_ERROR(CheckSameSize(instr, kData, kDst));
  WT_RETURN_IF_ERROR(CheckSameDtype(instr, kData, kDst));
  WT_RETURN_IF_ERROR(CheckColumn(instr, kProb, kData));
  if (!instr.is_operand(kProb) || !IsInteger(instr.operand(kData).dtype) ||
      instr.operand(kProb).dtype == DType::kF32) {
    return {};
  }
  return KernelError(ErrorClass::kDtype, "{} is {}; expected f32, since data is of integers ({})",
                     OperandName(instr, kProb), DTypeName(instr.operand(kProb).dtype),
                     DTypeName(instr.operand(kData).dtype));
}

Status ExecuteDropout(ExecuteContext& context, const Instr& instr) {
  using namespace dropout;  // NOLINT
  WT_ASSIGN_OR_RETURN(std::vector<uint32_t> bits, context.ReadBits(kData));
  const AccessPattern& data = instr.operand(kData);
  WT_ASSIGN_OR_RETURN(const std::vector<float> prob, context.ReadScalars(kProb, data.partitions()));
  const auto width = static_cast<size_t>(data.free_elements());
  std::vector<uint32_t> drawn(bits.size());
  Draw(context, Engine::kVector, data, [&](size_t i, uint32_t word) { drawn[i] = word; });
  for (size_t p = 0; p < prob.size(); ++p) {
    const uint32_t below = UniformBelow(prob[p]);
    for (size_t i = p * width; i < (p + 1) * width; ++i)
      bits[i] = (drawn[i] >> 8) < below ? 0 : bits[i];
  }
  context.WriteBits(kDst, bits);
  return {};
}

// set_rng_seed ----------------------------------------------------------------------------------

constexpr Param kSetRngSeedParams[] = {
    {"src_seeds", ParamKind::kSrc, nullptr, kInSbuf | kInPsum,
     Types({DType::kI32, DType::kU32, DType::kF32})},
    kNameParam,
};

Status CheckSetRngSeed(const Machine&, const Instr& instr) {
  WT_RETURN_IF_ERROR(CheckPartitions(instr, set_rng_seed::kSrcSeeds, 1));
  return CheckFreeElements(instr, set_rng_seed::kSrcSeeds, 1, "one 32-bit seed");
}

Status ExecuteSetRngSeed(ExecuteContext& context, const Instr&) {
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> seed, context.ReadBits(set_rng_seed::kSrcSeeds));
  context.state().SeedVectorGenerator(seed[0]);
  return {};
}

// rand_set_state, rand_get_state ----------------------------------------------------------------

constexpr Param kRandSetStateParams[] = {
    {"src_seeds", ParamKind::kSrc, nullptr, kInSbuf, Types({DType::kU32})},
    {"engine", ParamKind::kEngine, "gpsimd"},
    kNameParam,
};

constexpr Param kRandGetStateParams[] = {
    {"dst", ParamKind::kDst, nullptr, kInSbuf | kInPsum, Types({DType::kU32})},
    {"engine", ParamKind::kEngine, "gpsimd"},
    kNameParam,
};

// The operand of either holds the whole state of the engine's lanes.
Status CheckState(const Machine& machine, const Instr& instr, int operand) {
  if (EngineOf(instr, Engine::kGpSimd) == Engine::kGpSimd) {
    WT_RETURN_IF_ERROR(CheckGpSimd(machine, instr, operand));
    return CheckFreeElements(instr, operand, kXorwowWords, "the XORWOW words of a GpSimd lane");
  }
  if (!VectorHasXorwow(machine)) {
    return KernelError(ErrorClass::kGeneration,
                       "{}: the Vector engine of {} does not give out its random state; expected "
                       "generation 4: use engine gpsimd",
                       instr.def->name, machine.name);
  }
  return CheckFreeElements(instr, operand, kVectorStates * kXorwowWords,
                           "the four XORWOW states of a Vector lane");
}

Status CheckRandSetState(const Machine& machine, const Instr& instr) {
  return CheckState(machine, instr, rand_set_state::kSrcSeeds);
}

Status CheckRandGetState(const Machine& machine, const Instr& instr) {
  return CheckState(machine, instr, rand_get_state::kDst);
}

// Calls use(word of the state, index into the dense operand) for all of them.
template <class Use>
void ForEachWord(ExecuteContext& context, const Instr& instr, const AccessPattern& operand,
                 Use use) {
  const bool gpsimd = EngineOf(instr, Engine::kGpSimd) == Engine::kGpSimd;
  size_t at = 0;
  for (int64_t p = 0; p < operand.partitions(); ++p) {
    const size_t lane = LaneOf(operand, p);
    if (gpsimd) {
      for (uint32_t& word : context.state().gpsimd_random[lane]) use(word, at++);
      continue;
    }
    for (XorwowState& state : context.state().vector_xorwow[lane]) {
      for (uint32_t& word : state) use(word, at++);
    }
  }
}

Status ExecuteRandSetState(ExecuteContext& context, const Instr& instr) {
  using namespace rand_set_state;  // NOLINT
  WT_ASSIGN_OR_RETURN(const std::vector<uint32_t> words, context.ReadBits(kSrcSeeds));
  ForEachWord(context, instr, instr.operand(kSrcSeeds),
              [&](uint32_t& word, size_t i) { word = words[i]; });
  return {};
}

Status ExecuteRandGetState(ExecuteContext& context, const Instr& instr) {
  using namespace rand_get_state;  // NOLINT
  const AccessPattern& dst = instr.operand(kDst);
  std::vector<uint32_t> words(static_cast<size_t>(dst.elements()));
  ForEachWord(context, instr, dst, [&](uint32_t& word, size_t i) { words[i] = word; });
  context.WriteBits(kDst, words);
  return {};
}

}  // namespace
}  // namespace random

const InstrDef kRng = {
    .name = "rng",
    .summary =
        "Writes 32 random bits an element, the lowest of them for narrower integers. GpSimd draws "
        "from XORWOW; the Vector engine's polynomial before generation 4 is not published, so its "
        "numbers are ours: reproducible from the seed, not those of a chip.",
    .params = random::kRngParams,
    .engines = {Engine::kVector, Engine::kGpSimd},
    .default_engine = Engine::kVector,
    .check = random::CheckRng,
    .execute = random::ExecuteRng,
    .cost = cost::Rng,
};

const InstrDef kDropout = {
    .name = "dropout",
    .summary =
        "Replaces elements by zero with probability prob, a number or one value a "
        "partition, and leaves the others bit for bit, unscaled. Draws from the Vector "
        "engine's generator (ours: see rng).",
    .params = random::kDropoutParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = random::CheckDropout,
    .execute = random::ExecuteDropout,
    .cost = cost::Dropout,
};

const InstrDef kSetRngSeed = {
    .name = "set_rng_seed",
    .summary =
        "Seeds the Vector engine's generator in all lanes from one 32-bit word. How lanes "
        "are spread from it is our choice: not published.",
    .params = random::kSetRngSeedParams,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .check = random::CheckSetRngSeed,
    .execute = random::ExecuteSetRngSeed,
    .cost = cost::SetRngSeed,
};

const InstrDef kRandSetState = {
    .name = "rand_set_state",
    .summary =
        "Loads the generators of the lanes that src_seeds covers: 6 XORWOW words a lane on "
        "GpSimd, 24 (four states, used in turn) on the Vector engine of generation 4. Word "
        "order, shift register first and counter last, is our choice.",
    .params = random::kRandSetStateParams,
    .engines = {Engine::kGpSimd, Engine::kVector},
    .default_engine = Engine::kGpSimd,
    .since = Generation::kGen3,
    .check = random::CheckRandSetState,
    .execute = random::ExecuteRandSetState,
    .cost = cost::RandSetState,
};

const InstrDef kRandGetState = {
    .name = "rand_get_state",
    .summary =
        "Stores the generators of the lanes that dst covers, in the layout that "
        "rand_set_state loads.",
    .params = random::kRandGetStateParams,
    .engines = {Engine::kGpSimd, Engine::kVector},
    .default_engine = Engine::kGpSimd,
    .since = Generation::kGen3,
    .check = random::CheckRandGetState,
    .execute = random::ExecuteRandGetState,
    .cost = cost::RandGetState,
};

const InstrDef kRand2 = {
    .name = "rand2",
    .summary =
        "Uniform random numbers between min and max (numbers or one value a partition), "
        "fp32 with 24 random bits, converted to dst; from the Vector engine's XORWOW.",
    .params = random::kRand2Params,
    .engines = {Engine::kVector},
    .default_engine = Engine::kVector,
    .since = Generation::kGen4,
    .check = random::CheckRand2,
    .execute = random::ExecuteRand2,
    .cost = cost::Rand2,
};

}  // namespace wt::chip::isa
