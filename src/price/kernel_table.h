// Which NKI kernel stands for which op, and how it takes the op's operands: data/kernels.toml, read
// into rows. The file explains its keys.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"

namespace wt::price {

// How a host operand becomes a tensor of a kernel.
enum class Layout : uint8_t { kRows, kBatch, kColumn, kWhole, kAt };

// What is made of several operands or of attributes.
enum class Derived : uint8_t {
  kNone,
  kLike0,         // a tensor whose type is that of output 0
  kRopeCos,       // [time, head_dim / 2]
  kRopeSin,       //
  kLossShare,     // [1, 1]: the loss's weight over the number of targets that count
  kAdamwNumbers,  // [1, 8]: what a step of the schedule gives to kernels/adamw.py
  kMuonNumbers,   // [1, 4]
  kMuonMoment,    // output 2 as a column or a row, by the weight's longer side
};

struct KernelOperand {
  std::string name;  // of the kernel's argument; empty in `gives`
  Derived derived = Derived::kNone;
  bool output = false;  // of the host op: outN, else inN
  size_t index = 0;
  Layout layout = Layout::kWhole;

  bool sliced() const {
    return derived == Derived::kNone &&
           (layout == Layout::kRows || layout == Layout::kBatch || layout == Layout::kColumn);
  }
};

struct KernelRow {
  std::string op, kernel, bounded, none;  // kernel: "linear.py:linear"
  double score_limit = 0;
  std::vector<KernelOperand> args, gives;
  std::vector<std::string> attrs, flags, kinds, positive;
  std::map<std::string, int64_t> only;
};

class KernelTable {
 public:
  // Reads data/kernels.toml below HomeFolder(), or `path`.
  static Result<KernelTable> Load(const std::string& path = "");
  const KernelRow* Find(const std::string& op) const;  // null: the file has no such row
  const std::map<std::string, KernelRow>& rows() const { return rows_; }

 private:
  std::map<std::string, KernelRow> rows_;
};

// The file of a kernel "FILE.py:FUNCTION": as it is named, else of HomeFolder()/kernels.
std::string KernelPath(const std::string& file);

}  // namespace wt::price
