"""Functions of one and of two tiles, element by element: one instruction each."""
import numbers

from nki import isa, language
from neuronxcc.nki._call import box_of, flush, give, promoted, psum, tensor, within
from neuronxcc.nki._errors import describe, error
from neuronxcc.nki._tensor import Tensor


def _activation(name, doc):
    def call(x, *, dtype=None, mask=None, **_):
        box = box_of(mask, tensor(name, "x", x).shape)
        data = None if box is False else x.read(box)
        return give(x.shape, x.dtype, lambda dst: isa.activation(dst, call, data), box, explicit=dtype)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return call


ACTIVATIONS = {name: _activation(name, getattr(language, name).__doc__) for name in (
    "abs", "arctan", "cos", "erf", "erf_dx", "exp", "gelu", "gelu_apprx_sigmoid", "gelu_apprx_sigmoid_dx", "gelu_apprx_tanh",
    "gelu_apprx_tanh_dx", "gelu_dx", "log", "mish", "relu", "rsqrt", "sigmoid", "sign", "silu", "silu_dx", "sin", "softplus",
    "sqrt", "square", "tan", "tanh", "ceil", "floor", "trunc")}


def reciprocal(x, *, dtype=None, mask=None, **_):
    """1 / x, on the Vector engine."""
    from neuronxcc.nki.isa import reciprocal as instruction
    return instruction(x, dtype=dtype, mask=mask)


def negative(x, *, dtype=None, mask=None, **_):
    """-x"""
    from neuronxcc.nki.isa import tensor_scalar
    return tensor_scalar(x, language.multiply, -1.0, dtype=dtype or x.dtype, mask=mask)


def _shapes(name, x, y):
    """Both tiles with as many dimensions, and the shape they broadcast to."""
    if len(x.shape) != len(y.shape):
        rank = max(len(x.shape), len(y.shape))
        x, y = (t if len(t.shape) == rank else t.reshape(t.shape[:1] + (1,) * (rank - len(t.shape)) + tuple(t.shape[1:]))
                for t in (x, y))
    for a, b in zip(x.shape, y.shape):
        if a != b and a != 1 and b != 1:
            raise error("shape", f"{name}: x has shape {x.shape} and y {y.shape}; expected equal sizes, or 1 where one is to "
                        "be broadcast")
    return x, y, tuple([max(a, b) for a, b in zip(x.shape, y.shape)])


def _is_column(value, other, shape):
    return (value.dtype == "float32" and value.shape[0] == shape[0] and value.size == shape[0] and other.shape == shape)


def _of_two_tiles(name, op, x, y, dtype, mask, bitwise):
    shape = x.shape
    if shape != y.shape:
        x, y, shape = _shapes(name, x, y)
    kind = promoted(x, y)
    box = box_of(mask, shape)
    if box is False:
        return give(shape, kind, None, False, explicit=dtype)
    if not bitwise and shape != y.shape and _is_column(y, x, shape):
        a, b = x.read(box), y.read(within(box, y.shape))
        return give(shape, kind, lambda dst: isa.tensor_scalar(dst, a, op, b), box, explicit=dtype)
    if not bitwise and shape != x.shape and _is_column(x, y, shape):
        a, b = x.read(within(box, x.shape)), y.read(box)
        return give(shape, kind, lambda dst: isa.tensor_scalar(dst, b, op, a, reverse0=True), box, explicit=dtype)
    x = x if x.shape == shape else x.broadcast_to(shape)
    y = y if y.shape == shape else y.broadcast_to(shape)
    a, b = x.read(box), y.read(box)
    if x.buffer is psum and y.buffer is psum:
        flush()
        b = language._tiles.copy_to_sbuf(b)  # one of them may be in PSUM
    return give(shape, kind, lambda dst: isa.tensor_tensor(dst, a, b, op), box, explicit=dtype)


def _of_number(op, data, number, reverse, dtype, mask):
    if hasattr(number, "item"):
        number = number.item()
    box = box_of(mask, data.shape)
    x = None if box is False else data.read(box)
    return give(data.shape, promoted(data, number), lambda dst: isa.tensor_scalar(dst, x, op, number, reverse0=reverse), box,
                explicit=dtype)


def _is_number(value):
    return isinstance(value, numbers.Real) or getattr(value, "shape", None) == () and hasattr(value, "item")


def two(name, op, x, y, dtype, mask, bitwise=False):
    """x op y for tiles, or a tile and a number."""
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return _of_two_tiles(name, op, x, y, dtype, mask, bitwise)
    if isinstance(x, Tensor) and _is_number(y):
        return _of_number(op, x, y, False, dtype, mask)
    if isinstance(y, Tensor) and _is_number(x):
        return _of_number(op, y, x, True, dtype, mask)
    tensor(name, "x", x if not _is_number(x) else y)
    raise error("argument", f"{name}: x is {describe(x)} and y {describe(y)}; expected a tile for one of them at least")


def _binary(name, doc, bitwise):
    def call(x, y, *, dtype=None, mask=None, **_):
        return two(name, call, x, y, dtype, mask, bitwise)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    return call


_BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
BINARY = {name: _binary(name, getattr(language, name).__doc__, name in _BITWISE) for name in (
    "add", "subtract", "multiply", "maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal", "logical_and", "logical_or", "logical_xor", "fmod", "mod") + _BITWISE}


def power(x, y, *, dtype=None, mask=None, **_):
    """x to the power of y, on the GpSimd engine."""
    def tile(value, like):
        if isinstance(value, Tensor):
            return value
        from neuronxcc.nki.language.creation import full
        return full(like.shape, float(value), "float32")
    if not isinstance(x, Tensor) or not isinstance(y, Tensor):
        kind = promoted(x, y)
        like = x if isinstance(x, Tensor) else tensor("power", "y", y)
        x, y, dtype = tile(x, like), tile(y, like), dtype or kind
    return two("power", power, x, y, dtype, mask, bitwise=True)


def divide(x, y, *, dtype=None, mask=None, **_):
    """x / y: x times the reciprocal of y."""
    from neuronxcc.nki.isa import reciprocal as inverse
    if not isinstance(y, Tensor):
        kind = dtype or (x.dtype if not x.dtype.is_integer else "float32")
        return two("divide", BINARY["multiply"], x, 1.0 / float(y), kind, mask)
    kind = dtype or promoted(x, y)
    box = box_of(mask, y.shape)
    turned = inverse(y, dtype="float32", mask=mask if box is not False and len(box or ()) == len(y.shape) else None)
    return two("divide", BINARY["multiply"], x, turned, kind, mask)


def logical_not(x, *, dtype=None, mask=None, **_):
    """1 for 0 and 0 for 1."""
    return two("logical_not", BINARY["logical_xor"], x, 1.0, dtype or x.dtype, mask)


def invert(x, *, dtype=None, mask=None, **_):
    """~x"""
    ones = (1 << 8 * x.itemsize) - 1 if str(x.dtype).startswith("u") else -1
    return two("invert", BINARY["bitwise_xor"], x, ones, dtype or x.dtype, mask, bitwise=True)
