#include "text/byte_account.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace wt::text {

void BpbTotals::Add(std::span<const float> nll, std::span<const int32_t> targets,
                    std::span<const int32_t> token_bytes) {
  WT_CHECK(nll.size() == targets.size(), "{} losses, {} targets", nll.size(), targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] < 0) continue;
    const size_t target = static_cast<size_t>(targets[i]);
    WT_CHECK(target < token_bytes.size(), "target {}, table of {}", target, token_bytes.size());
    if (token_bytes[target] == 0) continue;
    nats += static_cast<double>(nll[i]);
    bytes += token_bytes[target];
    ++tokens;
  }
}

void BpbTotals::Add(const BpbTotals& other) {
  nats += other.nats;
  bytes += other.bytes;
  tokens += other.tokens;
}

double BpbTotals::bits_per_byte() const {
  if (bytes == 0) return std::numeric_limits<double>::infinity();
  return nats / (std::numbers::ln2 * static_cast<double>(bytes));
}

Status CheckBytes(const TokenSource& source, std::span<const int32_t> token_bytes) {
  if (source.raw_bytes() < 0) return {};
  if (static_cast<int64_t>(token_bytes.size()) < source.vocab_size()) {
    return Error(Code::kMismatch,
                 "{}: vocabulary of {} ids, but a byte table of {}; use the "
                 "tokenizer the file was written with",
                 source.name(), source.vocab_size(), token_bytes.size());
  }
  int64_t bytes = 0;
  std::vector<int32_t> ids;
  for (int64_t document = 0; document < source.documents(); ++document) {
    ids.resize(static_cast<size_t>(source.Length(document)));
    source.Copy(document, 0, ids);
    for (const int32_t id : ids) bytes += token_bytes[id];
  }
  if (bytes == source.raw_bytes()) return {};
  return Error(Code::kMismatch,
               "{}: its ids stand for {} bytes, its text had {}; the tokenizer loses or invents "
               "bytes, or is not the one the file was written with",
               source.name(), bytes, source.raw_bytes());
}

}  // namespace wt::text
