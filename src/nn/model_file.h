// The one header a user's model file needs. It defines a ModelFunction and names it:
//
//   #include "nn/model_file.h"
//   wt::nn::ModelOutput MyModel(wt::nn::Graph& g, const wt::nn::ModelConfig& c, wt::nn::ValueId tokens) { … }
//   WT_MODEL(MyModel)
//
// `windtunnel train RECIPE --model FILE.cc` compiles and loads it; examples/my_model/ is one to copy.
#pragma once

#include "nn/gpt.h"
#include "nn/layers.h"

// Checked on loading, so that a file compiled against other headers is refused.
#define WT_MODEL_ABI 1

#define WT_MODEL(function)                                                                      \
  extern "C" int wt_model_abi() { return WT_MODEL_ABI; }                                        \
  extern "C" void wt_model_build(wt::nn::Graph* graph, const wt::nn::ModelConfig* config,       \
                                 wt::nn::ValueId tokens, wt::nn::ModelOutput* output) {         \
    *output = function(*graph, *config, tokens);                                                \
  }
