"""nki.language: tensors, element types, and operations on tiles that give new tiles.

Every function is built from instructions of nki.isa. Its name is also the operation that
instructions take: nisa.tensor_tensor(..., op=nl.add).
"""
from nki import _core
from nki.language.memory import (MemoryRegion, hbm, is_hbm, is_on_chip, is_psum, is_sbuf,
                                 private_hbm, psum, sbuf, shared_hbm)
from nki.dtype import (bfloat16, bool_, float4_e2m1fn_x4, float8_e4m3, float8_e4m3fn,
                       float8_e4m3fn_x4, float8_e5m2, float8_e5m2_x4, float8_e8m0fnu, float16,
                       float32, int8, int16, int32, tfloat32, uint8, uint16, uint32)
from nki.language.markers import average, bypass, fp32, prelu
from nki.language.arithmetic import (abs_max, abs_min, add, divide, fmod, maximum, minimum, mod,
                                     multiply, power, subtract)
from nki.language.logic import (bitwise_and, bitwise_or, bitwise_xor, equal, greater, greater_equal,
                                invert, left_shift, less, less_equal, logical_and, logical_not,
                                logical_or, logical_xor, not_equal, right_shift)
from nki.language.functions import (abs, arctan, erf, erf_dx, exp, gelu, gelu_apprx_sigmoid,
                                    gelu_apprx_sigmoid_dx, gelu_apprx_tanh, gelu_apprx_tanh_dx,
                                    gelu_dx, log, mish, negative, reciprocal, relu, rsqrt, sigmoid,
                                    sign, silu, silu_dx, softplus, sqrt, square, tanh)
from nki.language.trigonometry import cos, sin, tan
from nki.language.rounding import ceil, floor, trunc
from nki.language.shapes import broadcast_to, expand_dims, transpose
from nki.language.movement import copy, gather_flattened, load, load_transpose2d, store, where
from nki.language.matmul import matmul
from nki.language.reductions import all, max, mean, min, prod, sum, var
from nki.language.normalization import dropout, rms_norm, softmax
from nki.language.creation import (empty_like, full, ndarray, ones, shared_constant,
                                   shared_identity_matrix, zeros, zeros_like)
from nki.language.random import rand, random_seed
from nki.language.loops import (affine_range, dynamic_range, fori_loop, no_reorder,
                                sequential_range, static_range, while_loop)
from nki.language.grid import num_programs, program_id, program_ndim
from nki.language.debug import device_print
from nki.language.tile_size import tile_size
from nki._object import NKIObject

NkiTensor = tensor = _core.NkiTensor
ds = _core.ds
range = static_range
bool = bool_

# What `op=` means: an operation of the Vector engine, a function of the Scalar engine, or both.
for _op in (abs, abs_max, abs_min, add, arctan, average, bitwise_and, bitwise_or, bitwise_xor,
            bypass, ceil, copy, cos, divide, equal, erf, erf_dx, exp, floor, fmod, gelu,
            gelu_apprx_sigmoid, gelu_apprx_sigmoid_dx, gelu_apprx_tanh, gelu_apprx_tanh_dx, gelu_dx,
            greater, greater_equal, invert, left_shift, less, less_equal, log, logical_and,
            logical_not, logical_or, logical_xor, maximum, minimum, mish, mod, multiply, negative,
            not_equal, power, prelu, reciprocal, relu, right_shift, rsqrt, sigmoid, sign, silu,
            silu_dx, sin, softplus, sqrt, square, subtract, tan, tanh, trunc):
    _core.register_op(_op, _op.__name__)
_core.register_op(max, "maximum")
_core.register_op(min, "minimum")
_core.register_op(sum, "add")
_core.register_op(prod, "multiply")
_core.register_op(mean, "average")
del _op
