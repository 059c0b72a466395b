#include "nn/model_config.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text_util.h"

namespace wt::nn {
namespace {

constexpr std::array<std::pair<Activation, const char*>, 5> kActivations = {
    {{Activation::kRelu2, "relu2"},
     {Activation::kLeakyRelu2, "leaky_relu2"},
     {Activation::kGelu, "gelu"},
     {Activation::kSilu, "silu"},
     {Activation::kSwiglu, "swiglu"}}};

Status Bad(const char* key, double given, const std::string& expected) {
  return Error(Code::kInvalidArgument, "model.{} is {}; expected {}", key, given, expected);
}

}  // namespace

const char* ActivationName(Activation activation) {
  return kActivations[static_cast<size_t>(activation)].second;
}

Result<Activation> ParseActivation(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [activation, known] : kActivations) {
    if (name == known) return activation;
    names.push_back(known);
  }
  const std::string nearest = NearestName(name, names);
  return Error(Code::kInvalidArgument,
               "model.activation is '{}'; expected relu2, leaky_relu2, gelu, silu or swiglu{}",
               name, nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

Status ModelConfig::Validate() const {
  if (depth < 1) return Bad("depth", static_cast<double>(depth), "at least 1");
  if (width < 1) return Bad("width", static_cast<double>(width), "at least 1");
  if (head_dim < 2 || head_dim % 2 != 0 || head_dim > 512 || width % head_dim != 0) {
    return Bad("head_dim", static_cast<double>(head_dim),
               fmt::format("an even divisor of model.width = {}, at most 512", width));
  }
  if (kv_heads < 0 || heads() % key_value_heads() != 0) {
    return Bad("kv_heads", static_cast<double>(kv_heads),
               fmt::format("a divisor of the {} query heads, or 0 for all", heads()));
  }
  if (!(mlp_ratio > 0)) return Bad("mlp_ratio", mlp_ratio, "a positive number");
  if (softcap < 0) return Bad("softcap", softcap, "0 (none) or a positive number");
  if (window_pattern.find_first_not_of("SL") != std::string::npos || window_pattern.empty()) {
    return Error(Code::kInvalidArgument,
                 "model.window_pattern is '{}'; expected letters S (short) and L (long), e.g. SSSL",
                 window_pattern);
  }
  for (int64_t layer : value_embedding_layers) {
    if (layer < -depth || layer >= depth) {
      return Bad("value_embedding_layers", static_cast<double>(layer),
                 fmt::format("layers from {} to {}", -depth, depth - 1));
    }
  }
  if (predict_tokens < 1 || predict_tokens > 8 || predict_tokens > context) {
    return Bad("predict_tokens", static_cast<double>(predict_tokens), "1 to 8");
  }
  if (attention_source_layer >= depth || attention_source_layer < -1 ||
      (attention_source_layer >= 0 && attention_source_from <= attention_source_layer)) {
    return Bad("attention_source_layer", static_cast<double>(attention_source_layer),
               "a layer before model.attention_source_from, or -1 for off");
  }
  if (smear_channels < 0 || smear_channels > width) {
    return Bad("smear_channels", static_cast<double>(smear_channels), "0 to model.width");
  }
  if (value_embedding_gate < 0 || value_embedding_gate > width) {
    return Bad("value_embedding_gate", static_cast<double>(value_embedding_gate),
               "0 to model.width");
  }
  if (conv_taps < 0 || conv_taps > 8)
    return Bad("conv_taps", static_cast<double>(conv_taps), "0 to 8");
  return {};
}

}  // namespace wt::nn
