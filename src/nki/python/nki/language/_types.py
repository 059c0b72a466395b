"""Which element type an operation gives when nobody says: the promotion rules of NKI.

A float and an integer give the float. Two floats give the wider one; two of the same width and
different kind the next wider kind that holds both. Integers likewise, int32 with uint32 giving
float32. Python numbers are weak: they take the tile's type, unless a fraction meets integers.
"""
import numbers

from nki import _core

_T = _core.DTYPES
_FLOAT8 = {"float8_e4m3", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"}
_FLOAT16 = {"float16", "bfloat16"}
_SIGNED = {1: "int8", 2: "int16", 4: "int32"}


def is_integer(dtype):
    return dtype.is_integer


def _promote_floats(a, b):
    if a in _FLOAT8 and b in _FLOAT8:
        return _T["bfloat16"]
    if a in _FLOAT8:
        return b
    if b in _FLOAT8:
        return a
    return _T["float32"]  # float16 with bfloat16, or one of them is float32 already


def _promote_integers(a, b):
    if a == "bool" or b == "bool":
        return b if a == "bool" else a
    wide, narrow = (a, b) if a.itemsize >= b.itemsize else (b, a)
    if a.startswith("u") == b.startswith("u"):
        return wide
    if not wide.startswith("u") and wide.itemsize > narrow.itemsize:
        return wide
    signed = _SIGNED.get(wide.itemsize * 2)
    return _T[signed] if signed else _T["float32"]


def promote(a, b):
    """The type of an operation on tiles of types `a` and `b`."""
    if a == b:
        return a
    if is_integer(a) and is_integer(b):
        return _promote_integers(a, b)
    if is_integer(a):
        return b
    if is_integer(b):
        return a
    return _promote_floats(a, b)


def promote_scalar(dtype, scalar):
    """The type of an operation on a tile of type `dtype` and a number."""
    if is_integer(dtype) and not isinstance(scalar, numbers.Integral):
        return _T["float32"]
    return dtype
