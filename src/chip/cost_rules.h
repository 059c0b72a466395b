// One cost rule an instruction, named after it; the InstrDef rows point here. Rules choose a law of
// the machine file by engine, dtypes, memories and steps, and count elements; they hold no numbers.
#pragma once

#include "chip/cost.h"
#include "chip/machine.h"

namespace wt::chip::cost {

Cost DmaCopy(const Machine& machine, const Instr& instr, Engine engine);
Cost TensorCopy(const Machine& machine, const Instr& instr, Engine engine);
Cost Memset(const Machine& machine, const Instr& instr, Engine engine);
Cost TensorCopyPredicated(const Machine& machine, const Instr& instr, Engine engine);
Cost NcMatmul(const Machine& machine, const Instr& instr, Engine engine);
Cost NcMatmulMx(const Machine& machine, const Instr& instr, Engine engine);
Cost NcTranspose(const Machine& machine, const Instr& instr, Engine engine);
Cost DmaTranspose(const Machine& machine, const Instr& instr, Engine engine);
Cost TensorTensor(const Machine& machine, const Instr& instr, Engine engine);
Cost TensorScalar(const Machine& machine, const Instr& instr, Engine engine);
Cost TensorReduce(const Machine& machine, const Instr& instr, Engine engine);
Cost TensorPartitionReduce(const Machine& machine, const Instr& instr, Engine engine);
Cost TensorScalarCumulative(const Machine& machine, const Instr& instr, Engine engine);
Cost Activation(const Machine& machine, const Instr& instr, Engine engine);
Cost ActivationReduce(const Machine& machine, const Instr& instr, Engine engine);
Cost Activate2(const Machine& machine, const Instr& instr, Engine engine);
Cost Iota(const Machine& machine, const Instr& instr, Engine engine);
Cost AffineSelect(const Machine& machine, const Instr& instr, Engine engine);
Cost LocalGather(const Machine& machine, const Instr& instr, Engine engine);
Cost NcNGather(const Machine& machine, const Instr& instr, Engine engine);
Cost BnStats(const Machine& machine, const Instr& instr, Engine engine);
Cost BnAggr(const Machine& machine, const Instr& instr, Engine engine);
Cost TensorTensorScan(const Machine& machine, const Instr& instr, Engine engine);
Cost NcStreamShuffle(const Machine& machine, const Instr& instr, Engine engine);
Cost Rng(const Machine& machine, const Instr& instr, Engine engine);
Cost Dropout(const Machine& machine, const Instr& instr, Engine engine);
Cost SetRngSeed(const Machine& machine, const Instr& instr, Engine engine);
Cost RandSetState(const Machine& machine, const Instr& instr, Engine engine);
Cost RandGetState(const Machine& machine, const Instr& instr, Engine engine);
Cost Rand2(const Machine& machine, const Instr& instr, Engine engine);
Cost Exponential(const Machine& machine, const Instr& instr, Engine engine);
Cost Reciprocal(const Machine& machine, const Instr& instr, Engine engine);
Cost Max8(const Machine& machine, const Instr& instr, Engine engine);
Cost SequenceBounds(const Machine& machine, const Instr& instr, Engine engine);
Cost ScalarTensorTensor(const Machine& machine, const Instr& instr, Engine engine);
Cost TensorScalarReduce(const Machine& machine, const Instr& instr, Engine engine);
Cost CoreBarrier(const Machine& machine, const Instr& instr, Engine engine);
Cost DmaCompute(const Machine& machine, const Instr& instr, Engine engine);
Cost QuantizeMx(const Machine& machine, const Instr& instr, Engine engine);
Cost RangeSelect(const Machine& machine, const Instr& instr, Engine engine);
Cost SelectReduce(const Machine& machine, const Instr& instr, Engine engine);
Cost Sendrecv(const Machine& machine, const Instr& instr, Engine engine);
Cost RegisterMove(const Machine& machine, const Instr& instr, Engine engine);
Cost RegisterLoad(const Machine& machine, const Instr& instr, Engine engine);
Cost RegisterStore(const Machine& machine, const Instr& instr, Engine engine);
Cost NcFindIndex8(const Machine& machine, const Instr& instr, Engine engine);
Cost NcMatchReplace8(const Machine& machine, const Instr& instr, Engine engine);
Cost NonzeroWithCount(const Machine& machine, const Instr& instr, Engine engine);
Cost Topk(const Machine& machine, const Instr& instr, Engine engine);

}  // namespace wt::chip::cost
