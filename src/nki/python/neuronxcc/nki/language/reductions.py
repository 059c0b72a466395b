"""Reductions over free dimensions, products, softmax and the like."""
from nki import isa, language
from neuronxcc.nki._call import box_of, dtype_of, flush, give, psum, tensor
from neuronxcc.nki._errors import error
from neuronxcc.nki._tensor import Tensor
from neuronxcc.nki.isa import tensor_reduce
from neuronxcc.nki.isa.reduction import axes_of


def sum(x, axis, *, dtype=None, mask=None, keepdims=False, **_):
    """The sum over `axis`."""
    return tensor_reduce(language.add, x, axis, dtype=dtype, mask=mask, keepdims=_keeps(x, axis, keepdims))


def prod(x, axis, *, dtype=None, mask=None, keepdims=False, **_):
    """The product over `axis`."""
    return tensor_reduce(language.multiply, x, axis, dtype=dtype, mask=mask, keepdims=_keeps(x, axis, keepdims))


def max(x, axis, *, dtype=None, mask=None, keepdims=False, **_):
    """The largest over `axis`."""
    return tensor_reduce(language.maximum, x, axis, dtype=dtype, mask=mask, keepdims=_keeps(x, axis, keepdims))


def min(x, axis, *, dtype=None, mask=None, keepdims=False, **_):
    """The smallest over `axis`."""
    return tensor_reduce(language.minimum, x, axis, dtype=dtype, mask=mask, keepdims=_keeps(x, axis, keepdims))


def all(x, axis, *, dtype=None, mask=None, **_):
    """1 where no element over `axis` is 0."""
    return tensor_reduce(language.logical_and, x, axis, dtype=dtype, mask=mask)


def _keeps(x, axis, keepdims):
    """A tile of two dimensions has two afterwards too."""
    return keepdims or len(tensor("reduce", "x", x).shape) == 2


def mean(x, axis, *, dtype=None, mask=None, keepdims=False, **_):
    """The mean over `axis`, of a sum in float32."""
    axes = axes_of("mean", tensor("mean", "x", x), axis)
    box = box_of(mask, x.shape)
    count = 1
    for dim in axes:
        begin, end = box[dim] if box else (0, x.shape[dim])
        count *= end - begin
    total = tensor_reduce(language.add, x, axes, dtype="float32", mask=mask, keepdims=_keeps(x, axis, keepdims))
    data = total.read(total.box)
    return give(total.shape, x.dtype, lambda dst: isa.tensor_scalar(dst, data, language.multiply, 1.0 / count), total.box,
                explicit=dtype)


def _whole(name, x, mask):
    """A tile for functions of several instructions, narrowed by the mask."""
    flush()
    box = box_of(mask, tensor(name, "x", x).shape)
    return x.read(None if box is False else box), box


def _given(result, shape, box):
    if box is None:
        return Tensor(result)
    return give(shape, result.dtype, lambda dst: isa.tensor_copy(dst, result), box)


def var(x, axis, *, dtype=None, mask=None, **_):
    """The variance over `axis`."""
    core, box = _whole("var", x, mask)
    axes = axes_of("var", x, axis)
    result = language.var(core, axes, None if dtype is None else dtype_of(dtype))
    return _given(result, tuple(1 if d in axes else n for d, n in enumerate(x.shape)), box)


def softmax(x, axis, *, dtype=None, mask=None, **_):
    """exp(x - max) / sum of it, over `axis`."""
    core, box = _whole("softmax", x, mask)
    return _given(language.softmax(core, axis, None if dtype is None else dtype_of(dtype)), x.shape, box)


def rms_norm(x, w, axis, n, epsilon=1e-6, *, dtype=None, compute_dtype=None, mask=None, **_):
    """x / sqrt(sum of squares over `axis` / n + epsilon) * w"""
    core, box = _whole("rms_norm", x, mask)
    weights = tensor("rms_norm", "w", w).read()
    if weights.shape[0] == 1 and core.shape[0] > 1:
        from neuronxcc.nki._view import broadcast
        weights = broadcast(weights, (core.shape[0],) + weights.shape[1:])
    kinds = [None if kind is None else dtype_of(kind) for kind in (dtype, compute_dtype)]
    return _given(language.rms_norm(core, weights, axis, n, epsilon, kinds[0], kinds[1]), x.shape, box)


def dropout(x, rate, *, dtype=None, mask=None, **_):
    """x with each element set to 0 with probability `rate`."""
    from neuronxcc.nki.isa import dropout as instruction
    return instruction(x, rate, mask=mask, dtype=dtype)


def matmul(x, y, *, transpose_x=False, mask=None, **_):
    """x @ y, or x.T @ y with transpose_x, in PSUM."""
    from neuronxcc.nki.isa import nc_matmul, nc_transpose
    for argument, value in (("x", x), ("y", y)):
        if len(tensor("matmul", argument, value).shape) != 2:
            raise error("shape", f"matmul: {argument} has shape {value.shape}; expected two dimensions")
    flush()
    x, y = _in_sbuf(x), _in_sbuf(y)
    if not transpose_x:
        x = _in_sbuf(nc_transpose(x, engine=isa.engine.tensor))
    pieces = -(-x.shape[0] // 128)
    if pieces > 1:
        raise error("partitions", f"matmul: {x.shape[0]} rows are contracted; expected at most 128 a product")
    return nc_matmul(x, y, mask=mask)


def _in_sbuf(value):
    if value.buffer is not psum:
        return value
    from neuronxcc.nki.isa import tensor_copy
    return tensor_copy(value)
