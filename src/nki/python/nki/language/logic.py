"""Comparisons, logic and bits, element by element. Comparisons and logic give 1 and 0."""
from nki import _core, isa
from nki._errors import describe, error
from nki.language import _types
from nki.language._binary import binary
from nki.language._tiles import is_tile, new_tile, tile


def _compare(name, op, x, y, dtype):
    if dtype is None and is_tile(x) and not is_tile(y):
        dtype = x.dtype
    elif dtype is None and is_tile(y) and not is_tile(x):
        dtype = y.dtype
    return _core.mark_comparison(binary(name, op, x, y, dtype))


def equal(x, y, dtype=None):
    """1 where x == y; `if nl.equal(x, y):` asks whether all are."""
    return _compare("equal", equal, x, y, dtype)


def not_equal(x, y, dtype=None):
    """1 where x != y."""
    return _compare("not_equal", not_equal, x, y, dtype)


def less(x, y, dtype=None):
    """1 where x < y."""
    return _compare("less", less, x, y, dtype)


def less_equal(x, y, dtype=None):
    """1 where x <= y."""
    return _compare("less_equal", less_equal, x, y, dtype)


def greater(x, y, dtype=None):
    """1 where x > y."""
    return _compare("greater", greater, x, y, dtype)


def greater_equal(x, y, dtype=None):
    """1 where x >= y."""
    return _compare("greater_equal", greater_equal, x, y, dtype)


def logical_and(x, y, dtype=None):
    """1 where both are not zero."""
    return _core.mark_comparison(binary("logical_and", logical_and, x, y, dtype))


def logical_or(x, y, dtype=None):
    """1 where one at least is not zero."""
    return _core.mark_comparison(binary("logical_or", logical_or, x, y, dtype))


def logical_xor(x, y, dtype=None):
    """1 where exactly one is not zero."""
    return _core.mark_comparison(binary("logical_xor", logical_xor, x, y, dtype))


def logical_not(x, dtype=None):
    """1 for 0 and 0 for 1: an exclusive or with 1."""
    return _core.mark_comparison(binary("logical_not", logical_xor, tile("logical_not", "x", x), 1.0,
                                      dtype or x.dtype))


def _integers(name, *values):
    for value in values:
        if is_tile(value) and not _types.is_integer(value.dtype):
            raise error("dtype", f"{name}: an operand is {describe(value)}; bits are of "
                        "integer types (tile.view(nl.int32) looks at the bits of floats)")


def bitwise_and(x, y, dtype=None):
    """x & y"""
    _integers("bitwise_and", x, y)
    return binary("bitwise_and", bitwise_and, x, y, dtype, bitwise=True)


def bitwise_or(x, y, dtype=None):
    """x | y"""
    _integers("bitwise_or", x, y)
    return binary("bitwise_or", bitwise_or, x, y, dtype, bitwise=True)


def bitwise_xor(x, y, dtype=None):
    """x ^ y"""
    _integers("bitwise_xor", x, y)
    return binary("bitwise_xor", bitwise_xor, x, y, dtype, bitwise=True)


def left_shift(x, y, dtype=None):
    """x << y"""
    _integers("left_shift", x, y)
    return binary("left_shift", left_shift, x, y, dtype, bitwise=True)


def right_shift(x, y, dtype=None):
    """x >> y, zeros from the left."""
    _integers("right_shift", x, y)
    return binary("right_shift", right_shift, x, y, dtype, bitwise=True)


def invert(x, dtype=None):
    """~x: an exclusive or with all ones."""
    _integers("invert", tile("invert", "x", x))
    result = new_tile(x.shape, dtype or x.dtype)
    ones = (1 << 8 * x.itemsize) - 1 if x.dtype.startswith("u") else -1
    isa.tensor_scalar(dst=result, data=x, op0=bitwise_xor, operand0=ones)
    return result
