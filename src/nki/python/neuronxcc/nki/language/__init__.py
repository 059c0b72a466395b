"""neuronxcc.nki.language: tensors, index expressions and operations on tiles, as the older generation has them.

A function's name is also the operation that instructions take, and NumPy's functions stand for the same ones:
nisa.tensor_tensor(a, b, op=np.add).
"""
import numpy as _np

from nki import _core
from nki.dtype import (bfloat16, bool_, float8_e4m3, float8_e5m2, float16, float32, int8, int16, int32, tfloat32, uint8, uint16,
                       uint32)
from nki.language import average, bypass, fp32, tile_size
from nki.language.memory import MemoryRegion
from neuronxcc.nki._index import arange, mgrid
from neuronxcc.nki.language.creation import (empty, empty_like, full, ndarray, ones, par_dim, rand, random_seed,
                                             shared_constant, shared_identity_matrix, zeros, zeros_like)
from neuronxcc.nki.language.debug import device_print
from neuronxcc.nki.language.elementwise import (ACTIVATIONS as _ACTIVATIONS, BINARY as _BINARY, divide, invert, logical_not,
                                                negative, power, reciprocal)
from neuronxcc.nki.language.grid import nc, spmd_dim
from neuronxcc.nki.language.loops import (affine_range, num_programs, program_id, program_ndim, sequential_range,
                                          static_range)
from neuronxcc.nki.language.movement import (atomic_rmw, broadcast_to, copy, expand_dims, gather_flattened, load,
                                             load_transpose2d, loop_reduce, static_cast, store, transpose, where)
from neuronxcc.nki.language.reductions import (all, dropout, matmul, max, mean, min, prod, rms_norm, softmax, sum, var)

globals().update(_ACTIVATIONS)
globals().update(_BINARY)

ds = _core.ds


def finfo(dtype):
    """The limits of a float type, as numpy.finfo."""
    from nki import dtype as dtypes
    return dtypes.finfo(dtype)


float8_e4m3fn = float8_e4m3
sbuf, psum = MemoryRegion.sbuf, MemoryRegion.psum
private_hbm, shared_hbm = MemoryRegion.private_hbm, MemoryRegion.shared_hbm
hbm = private_hbm

for _name, _op in [*_ACTIVATIONS.items(), *_BINARY.items()]:
    _core.register_op(_op, _name)
for _op in (copy, divide, invert, logical_not, negative, power, reciprocal):
    _core.register_op(_op, _op.__name__)
for _op, _name in ((max, "maximum"), (min, "minimum"), (sum, "add"), (prod, "multiply"), (mean, "average")):
    _core.register_op(_op, _name)
for _name, _op in (
        ("add", "add"), ("subtract", "subtract"), ("multiply", "multiply"), ("divide", "divide"), ("maximum", "maximum"),
        ("minimum", "minimum"), ("max", "maximum"), ("min", "minimum"), ("sum", "add"), ("prod", "multiply"),
        ("amax", "maximum"), ("amin", "minimum"), ("mean", "average"), ("power", "power"), ("equal", "equal"),
        ("not_equal", "not_equal"), ("less", "less"), ("less_equal", "less_equal"), ("greater", "greater"),
        ("greater_equal", "greater_equal"), ("logical_and", "logical_and"), ("logical_or", "logical_or"),
        ("logical_xor", "logical_xor"), ("logical_not", "logical_not"), ("bitwise_and", "bitwise_and"),
        ("bitwise_or", "bitwise_or"), ("bitwise_xor", "bitwise_xor"), ("invert", "invert"), ("left_shift", "left_shift"),
        ("right_shift", "right_shift"), ("exp", "exp"), ("log", "log"), ("sqrt", "sqrt"), ("square", "square"),
        ("sin", "sin"), ("cos", "cos"), ("tan", "tan"), ("arctan", "arctan"), ("tanh", "tanh"), ("sign", "sign"),
        ("abs", "abs"), ("reciprocal", "reciprocal"), ("negative", "negative"), ("copy", "copy"), ("fmod", "fmod"),
        ("mod", "mod"), ("ceil", "ceil"), ("floor", "floor"), ("trunc", "trunc")):
    _core.register_op(getattr(_np, _name), _op)
del _name, _op
