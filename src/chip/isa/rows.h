// All rows of the instruction table; each is defined in the file of its family beside this one.
#pragma once

#include "chip/isa.h"
#include "chip/isa/params.h"

namespace wt::chip::isa {

extern const InstrDef kDmaCopy;
extern const InstrDef kTensorCopy;
extern const InstrDef kMemset;
extern const InstrDef kTensorCopyPredicated;
extern const InstrDef kNcMatmul;
extern const InstrDef kNcMatmulMx;
extern const InstrDef kNcTranspose;
extern const InstrDef kDmaTranspose;
extern const InstrDef kTensorTensor;
extern const InstrDef kTensorScalar;
extern const InstrDef kTensorReduce;
extern const InstrDef kTensorPartitionReduce;
extern const InstrDef kTensorScalarCumulative;
extern const InstrDef kActivation;
extern const InstrDef kActivationReduce;
extern const InstrDef kActivate2;
extern const InstrDef kIota;
extern const InstrDef kAffineSelect;
extern const InstrDef kLocalGather;
extern const InstrDef kNcNGather;
extern const InstrDef kBnStats;
extern const InstrDef kBnAggr;
extern const InstrDef kTensorTensorScan;
extern const InstrDef kNcStreamShuffle;
extern const InstrDef kRng;
extern const InstrDef kDropout;
extern const InstrDef kSetRngSeed;
extern const InstrDef kRandSetState;
extern const InstrDef kRandGetState;
extern const InstrDef kRand2;
extern const InstrDef kExponential;
extern const InstrDef kReciprocal;
extern const InstrDef kMax8;
extern const InstrDef kSequenceBounds;
extern const InstrDef kScalarTensorTensor;
extern const InstrDef kTensorScalarReduce;
extern const InstrDef kCoreBarrier;
extern const InstrDef kDmaCompute;
extern const InstrDef kQuantizeMx;
extern const InstrDef kRangeSelect;
extern const InstrDef kSelectReduce;
extern const InstrDef kSendrecv;
extern const InstrDef kRegisterMove;
extern const InstrDef kRegisterLoad;
extern const InstrDef kRegisterStore;
extern const InstrDef kNcFindIndex8;
extern const InstrDef kNcMatchReplace8;
extern const InstrDef kNonzeroWithCount;
extern const InstrDef kTopk;

}  // namespace wt::chip::isa
