// Bits per byte: the score of a language model on text, whatever its tokenizer. Sums nats and the
// bytes the scored tokens stand for; special tokens and ignored targets count in neither. Used by
// evaluation after the model's losses are known.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "text/token_source.h"

namespace wt::text {

struct BpbTotals {
  double nats = 0;
  int64_t bytes = 0;
  int64_t tokens = 0;  // scored: targets that stand for at least one byte

  // nll[i] is the cross entropy of targets[i] in nats; token_bytes[id] the bytes an id stands for,
  // 0 for special tokens. Negative targets are ignored. Requires equal lengths and targets in the
  // table. A NaN loss makes the score NaN.
  void Add(std::span<const float> nll, std::span<const int32_t> targets,
           std::span<const int32_t> token_bytes);
  void Add(const BpbTotals& other);
  double bits_per_byte() const;  // +infinity when there are no bytes
};

// Do the ids of a source stand for exactly the bytes its text had? kMismatch when they do not: the
// score's denominator would be wrong. A source that did not record its bytes passes.
Status CheckBytes(const TokenSource& source, std::span<const int32_t> token_bytes);

}  // namespace wt::text
