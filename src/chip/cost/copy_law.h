// Laws that several cost rules choose: copies on Vector and Scalar by dtypes, memories and steps,
// and transposes on Tensor.
#pragma once

#include "chip/cost/count.h"

namespace wt::chip::cost {

// tensor_copy and the forms of tensor_scalar that are as fast, on the Vector engine.
LawId VectorCopyLaw(const AccessPattern& src, const AccessPattern& dst);
Cost VectorCopy(const Machine& machine, const Instr& instr, const AccessPattern& src,
                const AccessPattern& dst);

LawId ScalarCopyLaw(const AccessPattern& src, const AccessPattern& dst);
LawId ScalarTensorScalarLaw(const AccessPattern& src, const AccessPattern& dst);
// `count` tensor-valued scales or biases.
void AddScalarOperand(const Machine& machine, int count, Cost* cost);

// nc_transpose on the tensor engine.
Cost TensorTranspose(const Machine& machine, const Instr& instr);

}  // namespace wt::chip::cost
