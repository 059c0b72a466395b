// A node of a step as a call of its kernel: the node alone in a program of its own, cut to a slice
// of its rows, and the kernel's arguments made of its operands.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nki/arg_spec.h"
#include "nn/op.h"
#include "price/kernel_table.h"

namespace wt::price {

// Rows, or entries along the first axis, of the operands that a kernel's time grows with; 0: the
// kernel takes them whole.
int64_t ExtentOf(const nn::StepProgram& program, const nn::Node& node, const KernelRow& row);
// Of an extent, the size of a slice long enough for a kernel to reach its pace.
int64_t SliceOf(const nn::StepProgram& program, const nn::Node& node, const KernelRow& row);

// A program of this node alone, with `extent` of its rows; 0: all of them. The node's inputs and
// outputs are values 0 … in order, those not given left out.
Result<nn::StepProgram> CutNode(const nn::StepProgram& program, const nn::Node& node,
                                const KernelRow& row, int64_t extent);

using ValueBytes = std::vector<std::vector<std::byte>>;  // by value of the cut program

// Fails with kUnsupported when the kernel does not cover the node: an attribute, several targets.
// `bytes`: the operands' values; null: shapes only.
Result<std::vector<nki::KernelArg>> KernelArgsOf(const nn::StepProgram& cut, const KernelRow& row,
                                                 const ValueBytes* bytes);

// Index of the element that layout `at` means.
int64_t ElementAt(const nn::Node& node, const nn::Value& value);
// Arguments as a command line writes them, without values: "x=8192x640:bf16 head_dim=128".
std::string ArgsText(const std::vector<nki::KernelArg>& args);

}  // namespace wt::price
