"""Softmax, RMS norm and dropout: a few instructions each."""
from nki import isa
from nki.language import _types
from nki.language.arithmetic import add, maximum, multiply, subtract
from nki.language.functions import exp, rsqrt, square
from nki.language.reductions import axes_of, reduce, reduced_shape
from nki.language.shapes import broadcast_to, broadcast_view
from nki.language._tiles import copy_to_sbuf, is_tile, new_tile, tile


def _softmax_of_rows(x, dtype):
    """Over all free dimensions: the Scalar engine sums while it exponentiates."""
    axes = tuple(range(1, x.ndim))
    top = reduce("softmax", maximum, x, axes, "float32", negate=True)
    raised, total = new_tile(x.shape, "float32"), new_tile((x.shape[0], 1), "float32")
    isa.activation(dst=raised, op=exp, data=x, bias=top, reduce_op=add, reduce_res=total,
                   reduce_cmd=isa.reduce_cmd.reset_reduce)
    isa.reciprocal(dst=total, data=total)
    result = new_tile(x.shape, dtype)
    isa.tensor_scalar(dst=result, data=raised, op0=multiply, operand0=total)
    return result


def softmax(x, axis=-1, dtype=None):
    """exp(x - max) / sum of it, over `axis`, in float32 inside."""
    axes = axes_of("softmax", tile("softmax", "x", x), axis)
    dtype = dtype or x.dtype
    if axes[0] == 1:
        return _softmax_of_rows(x, dtype)
    top = reduce("softmax", maximum, x, axes, "float32", keepdims=True)
    raised = exp(subtract(x, top, "float32"))
    total = reduce("softmax", add, raised, axes, keepdims=True)
    isa.reciprocal(dst=total, data=total)
    return multiply(raised, total, dtype)


def rms_norm(x, w, axis, n, epsilon=1e-06, dtype=None, compute_dtype=None):
    """x / sqrt(sum of squares over `axis` / n + epsilon) * w."""
    compute = compute_dtype or "float32"
    axes = axes_of("rms_norm", tile("rms_norm", "x", x), axis)
    squares = square(x, compute)
    total = reduce("rms_norm", add, squares, axes, "float32", keepdims=True)
    isa.tensor_scalar(dst=total, data=total, op0=multiply, operand0=1.0 / n, op1=add,
                      operand1=float(epsilon))
    scaled = multiply(x, rsqrt(total), compute)
    return multiply(scaled, tile("rms_norm", "w", w), dtype or x.dtype)


def dropout(x, rate, dtype=None):
    """x with each element set to 0 with probability `rate`: a number, or a column of one a
    partition."""
    result = new_tile(tile("dropout", "x", x).shape, x.dtype)
    isa.dropout(dst=result, data=x, prob=rate if is_tile(rate) else float(rate))
    return result if dtype in (None, x.dtype) else copy_to_sbuf(result, dtype)
