// Silent fp32: products and streams that a program runs in fp32. On the chip such a product takes
// four times as long and each pass moves twice the bytes; a single fp32 scalar of shape (1,) that
// multiplies the stream is enough in PyTorch.
#pragma once

#include <span>
#include <string>

#include "price/op_price.h"
#include "price/pricing.h"

namespace wt::price {

struct Promotion {
  int64_t products = 0;   // nodes whose products have fp32 operands
  int64_t tensors = 0;    // activations as large as a stream
  std::string first;      // where it begins: "layer0 (mix)"
  double products_s = 0;  // of a step: what bf16 operands would save
  double traffic_s = 0;   // likewise, bytes
  bool any() const { return products + tensors > 0; }
  double seconds() const { return products_s + traffic_s; }
};

// `ops`: the price of each node of the program, in order.
Promotion FindPromotion(const nn::StepProgram& program, std::span<const OpPrice> ops,
                        const Constants& constants);
// One sentence with the price of it; empty when there is none.
std::string PromotionText(const Promotion& promotion, double step_s);

}  // namespace wt::price
