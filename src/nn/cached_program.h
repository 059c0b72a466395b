// CachedProgram: a model's forward pass over rows of many sequences at once, each with its past in
// pools (the KV cache), made from the same model function as all other programs: ops that know of
// positions or other tokens are replaced by their twins over paths (OpDef::cached).
#pragma once

#include "nn/gpt.h"

namespace wt::nn {

struct CachedSizes {
  int64_t rows = 0;       // tokens of one run
  int64_t segments = 0;   // of one run
  int64_t paths = 0;      // slots that the segments of one run name
  int64_t wanted = 0;     // rows of one run whose logits are asked for
  int64_t slots = 0;      // of a pool
  int64_t positions = 0;  // of the longest sequence
};

struct CachedProgram {
  StepProgram program;
  ValueId tokens = kNoValue;     // i32 [1, rows]
  ValueId positions = kNoValue;  // i32 [rows]
  ValueId segments = kNoValue;   // i32 [segments, 4]: tensor::PathSegment
  ValueId paths = kNoValue;      // i32 [paths]
  ValueId wanted = kNoValue;     // i32 [wanted]: rows
  ValueId logits = kNoValue;     // f32 [1, wanted, vocab]
};

// Shapes are the largest ones; Executor::Reshape makes them smaller.
Result<CachedProgram> MakeCachedProgram(const ModelConfig& config, const ModelFunction& model,
                                        const CachedSizes& sizes);

}  // namespace wt::nn
