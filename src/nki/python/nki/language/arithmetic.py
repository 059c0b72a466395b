"""Arithmetic on two tiles or a tile and a number, element by element, in float32 inside."""
from nki import isa
from nki._errors import warn_not_on_chip
from nki.language._binary import binary
from nki.language._tiles import is_tile, new_tile
from nki.language import _types


def add(x, y, dtype=None):
    """x + y"""
    return binary("add", add, x, y, dtype)


def subtract(x, y, dtype=None):
    """x - y"""
    return binary("subtract", subtract, x, y, dtype)


def multiply(x, y, dtype=None):
    """x * y"""
    return binary("multiply", multiply, x, y, dtype)


def maximum(x, y, dtype=None):
    """The larger of x and y."""
    return binary("maximum", maximum, x, y, dtype)


def minimum(x, y, dtype=None):
    """The smaller of x and y."""
    return binary("minimum", minimum, x, y, dtype)


def abs_max(x, y, dtype=None):
    """x where |x| > |y|, else y, with their signs. On trn3 and later."""
    return binary("abs_max", abs_max, x, y, dtype)


def abs_min(x, y, dtype=None):
    """x where |x| < |y|, else y, with their signs. On trn3 and later."""
    return binary("abs_min", abs_min, x, y, dtype)


def power(x, y, dtype=None):
    """x to the power of y, on the GpSimd engine."""
    if is_tile(x) != is_tile(y):
        warn_not_on_chip("nl.power of a tile and a number", "make the number a tile with nl.full")
        number, data = (y, x) if is_tile(x) else (x, y)
        filled = new_tile(data.shape, "float32")
        isa.memset(dst=filled, value=float(number))
        dtype = dtype or _types.promote_scalar(data.dtype, number)
        x, y = (data, filled) if is_tile(x) else (filled, data)
    return binary("power", power, x, y, dtype, bitwise=True)


def divide(x, y, dtype=None):
    """x / y: x times the reciprocal of y, as the chip has no division."""
    warn_not_on_chip("nl.divide", "write nl.multiply(x, nl.reciprocal(y))")
    if not is_tile(y):
        dtype = dtype or (x.dtype if is_tile(x) and not _types.is_integer(x.dtype) else "float32")
        return binary("divide", multiply, x, 1.0 / y, dtype)
    inverse = new_tile(y.shape, "float32")
    isa.reciprocal(dst=inverse, data=y)
    if dtype is None:
        dtype = (_types.promote(x.dtype, y.dtype) if is_tile(x) else
                 _types.promote_scalar(y.dtype, x))
    return binary("divide", multiply, x, inverse, dtype)


def fmod(x, y, dtype=None):
    """The rest of x / y with the sign of x."""
    warn_not_on_chip("nl.fmod", "subtract y times nl.trunc of the quotient")
    return binary("fmod", fmod, x, y, dtype)


def mod(x, y, dtype=None):
    """The rest of x / y with the sign of y, as Python's %."""
    warn_not_on_chip("nl.mod", "subtract y times nl.floor of the quotient")
    return binary("mod", mod, x, y, dtype)
