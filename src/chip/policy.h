// What a compiler does to a kernel: a layer of its own, since it decides more of a kernel's time
// than any constant of the machine (docs/ACCURACY.md). Presets by tool chain are in
// data/toolchains/*.toml.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "chip/machine.h"

namespace wt::chip {

struct Policy {
  std::string name = "nki-0.6";
  int window = 64;     // unissued instructions an engine may pick from
  int dma_window = 4;  // likewise a DMA queue; 1: in order
  // Renaming: physical copies of a declaration site, times what is live at once.
  double sbuf_copies = 4, psum_copies = 32;
  bool rename_rewritten_sbuf = true;  // a full overwrite of an SBUF tile may take a new buffer
  bool rename_rewritten_psum = false;
  int64_t psum_granule_bytes = 512;  // small PSUM tiles share a bank
  bool split_load_store_queues = true;
  double dma_issue_ns = -1;  // per DMA instruction and queue; negative: the machine's
  int dma_queues = 1;        // hardware queues of each direction, used in turn
  // Instructions without an engine that Vector and Scalar can both execute. Copies out of PSUM and
  // those that convert go where less is waiting, arithmetic on PSUM with a vector operand goes to
  // Scalar (false: both to Vector); arithmetic with numbers alone on a tile that comes straight
  // from a load goes to Scalar (the other flag); the rest to Vector.
  bool balance_engines = true;
  bool scalar_takes_loaded = true;
  bool memset_on_gpsimd = false;
  // Loads of bytes that are on the chip already are left out; so much of SBUF is kept for them.
  double load_reuse_share = 0;
  // Executions of a loop body are merged until they are as wide; 0: never.
  int merge_elements = 0;
  bool broadcast_by_product = false;  // one partition read as many becomes a product on Tensor
  // What a loop of transfers loses a trip when its trip count is even and no multiple of 16: the
  // DMA engines run dry between trips. 0: nothing.
  double loop_bubble_ns = 0;
  // Where in a window of the tensor engine's power limit the kernel begins: windows of the chip's
  // own clock, so that it may be anywhere. 1: a window begins with the kernel.
  double limiter_phase = 1;
  double envelope_ns = -1;  // fixed cost around a kernel; negative: the machine's

  bool operator==(const Policy&) const = default;
};

// Reads data/toolchains/NAME.toml (with what it inherits), below HomeFolder(). A `name` that ends
// in .toml is a path. Every key has source and evidence, as in machine files.
Result<Policy> LoadPolicy(const std::string& name);
// The presets there are: "nki-0.6", "neuronx-cc-2", …
std::vector<std::string> PolicyNames();

}  // namespace wt::chip
