"""What of NKI the files in kernels/ use, eagerly in NumPy: the peer of bench/compare_numpy.py.

Tensors are NumPy arrays and tiles their views; every instruction is a few NumPy calls over whole tiles: operands to
fp32, the arithmetic, the result rounded into `dst`. Nothing is checked and nothing is timed, so this is about the least
that a simulator in NumPy has to do. Inside installed(), `import nki` finds it.
"""
import contextlib
import sys
import types

import numpy as np
from nki import dtype

F32 = np.float32


class HbmTensor(np.ndarray):
    """A kernel's argument: an array that also knows .ap()."""

    def ap(self, pattern, offset=0):
        flat = self.reshape(-1)[offset:]
        strides = [step * self.itemsize for step, _ in pattern]
        return np.lib.stride_tricks.as_strided(flat, [size for _, size in pattern], strides)


def wide(x):
    """Operands as the engines see them: fp32."""
    return x.astype(F32, copy=False) if isinstance(x, np.ndarray) else F32(x)


def ndarray(shape, dtype, buffer=None, **_):
    # nc_matmul adds to what is there, and a PSUM tile of these kernels starts with a product.
    if buffer == "psum":
        return np.zeros(shape, dtype)
    tensor = np.empty(shape, dtype)
    return tensor.view(HbmTensor) if buffer == "hbm" else tensor


def put(dst, values):
    """Shapes may differ where the count of elements does not."""
    dst[...] = values.reshape(dst.shape) if isinstance(values, np.ndarray) and values.size == dst.size else values


def copy(dst, src, **_):
    put(dst, src)


def memset(dst, value, **_):
    put(dst, value)


def nc_matmul(dst, stationary, moving, **_):
    dst += wide(stationary).T @ wide(moving)


def nc_transpose(dst, data, **_):
    put(dst, data.T)


def tensor_tensor(dst, data1, data2, op, **_):
    put(dst, op(wide(data1), wide(data2)))


def tensor_scalar(dst, data, op0, operand0, op1=None, operand1=None, **_):
    result = op0(wide(data), wide(operand0))
    put(dst, result if op1 is None else op1(result, wide(operand1)))


def scalar_tensor_tensor(dst, data, op0, operand0, op1, operand1, **_):
    put(dst, op1(op0(wide(data), wide(operand0)), wide(operand1)))


def tensor_reduce(dst, op, data, axis, negate=False, **_):
    result = op.reduce(wide(data), axis=axis, keepdims=True)
    put(dst, -result if negate else result)


def activated(op, data, bias, scale):
    x = wide(data)
    if not isinstance(scale, float) or scale != 1.0:
        x = x * wide(scale)
    return op(x if bias is None else x + wide(bias))


def activation(dst, op, data, bias=None, scale=1.0, **_):
    put(dst, activated(op, data, bias, scale))


def activation_reduce(dst, op, data, reduce_op, reduce_res, bias=None, scale=1.0, **_):
    result = activated(op, data, bias, scale)
    put(dst, result)
    put(reduce_res, reduce_op.reduce(result, axis=1, keepdims=True))


def reciprocal(dst, data, **_):
    put(dst, F32(1) / wide(data))


def affine(pattern, offset, channel_multiplier, partitions):
    (step, size), = pattern
    return offset + channel_multiplier * np.arange(partitions)[:, None] + step * np.arange(size)


def iota(dst, pattern, offset, channel_multiplier, **_):
    put(dst, affine(pattern, offset, channel_multiplier, len(dst)))


def rsqrt(x):
    return F32(1) / np.sqrt(x)


ISA = (memset, nc_matmul, nc_transpose, tensor_tensor, tensor_scalar, scalar_tensor_tensor, tensor_reduce, activation,
       activation_reduce, reciprocal, iota)
LANGUAGE = dict(ndarray=ndarray, affine_range=range, sequential_range=range, sbuf="sbuf", psum="psum",
                shared_hbm="hbm", float32=F32, float16=np.float16, bfloat16=dtype.to_numpy("bfloat16"),
                int32=np.int32, add=np.add, multiply=np.multiply, maximum=np.maximum, equal=np.equal,
                greater_equal=np.greater_equal, exp=np.exp, log=np.log, tanh=np.tanh, sqrt=np.sqrt, square=np.square,
                rsqrt=rsqrt)


def jit(function):
    def kernel(*args, **kwargs):
        hbm = lambda x: x.view(HbmTensor) if isinstance(x, np.ndarray) else x
        return function(*map(hbm, args), **{name: hbm(x) for name, x in kwargs.items()})
    return kernel


@contextlib.contextmanager
def installed(siblings=()):
    package, isa, language = (types.ModuleType(name) for name in ("nki", "nki.isa", "nki.language"))
    package.jit, package.isa, package.language = jit, isa, language
    isa.engine = types.SimpleNamespace(tensor=None, vector=None, scalar=None, gpsimd=None)  # all the same here
    vars(isa).update({function.__name__: function for function in ISA}, dma_copy=copy, tensor_copy=copy)
    vars(language).update(LANGUAGE)
    # What kernels import of one another was made with another nki and is made anew.
    names = {"nki": package, "nki.isa": isa, "nki.language": language} | dict.fromkeys(siblings)
    before = {name: sys.modules.get(name) for name in names}
    for name, module in names.items():
        sys.modules.pop(name, None)
        if module is not None:
            sys.modules[name] = module
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
