// The cost rules against measured single instructions: rows of data/measurements/
// instruction_laws.csv and what the machine file and the rules say of each.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "chip/machine.h"

namespace wt::chip {

struct MeasuredInstr {
  int line = 0;             // of the file
  std::string instruction;  // or the name of a law or constant
  std::string engine;
  std::string variant;  // function, "step 24", "switch", …
  std::string src_dtype, dst_dtype;
  std::string memory;  // of the source
  int partitions = 0;
  int elements = 0;  // of a partition; nc_matmul: rows of moving
  // "completion": from issue to result; "issue": until the next one can be issued; "constant";
  // "first_completion": with the weight load ahead of it.
  std::string quantity;
  bool limited = false;  // under the tensor engine's power limit
  double ahead = 0;      // intervals that the instruction before it still has to run
  bool held = true;      // false: another measurement, which the machine file follows, differs
  double measured_ns = 0;
  std::string source, note;

  std::string Describe() const;  // "tensor_copy vector f32 to bf16 sbuf 512: completion"
};

Result<std::vector<MeasuredInstr>> ReadMeasuredInstrs(const std::string& path);

struct Predicted {
  double ns = 0;
  Evidence evidence = Evidence::kGuessed;
};
Result<Predicted> Predict(const Machine& machine, const MeasuredInstr& row);

// What a row is off by: 0.05 for 5 % too slow.
inline double ErrorOf(const MeasuredInstr& row, const Predicted& predicted) {
  return predicted.ns / row.measured_ns - 1;
}

}  // namespace wt::chip
