"""Floor, ceiling and truncation, from the conversion to int32, which rounds to nearest.

What lies beyond 2**23 has no fraction: there the correction is 0, as for infinities.
"""
from nki import isa
from nki.language.arithmetic import add, maximum, minimum, subtract
from nki.language.logic import greater, less, logical_and
from nki.language._tiles import new_tile, tile

_NO_FRACTION = float(2**23)


def _to_nearest(name, x):
    """The nearest integer minus x, in float32."""
    near = new_tile(tile(name, "x", x).shape, "float32")
    isa.tensor_scalar(dst=near, data=x, op0=minimum, operand0=_NO_FRACTION, op1=maximum,
                      operand1=-_NO_FRACTION)
    nearest = new_tile(x.shape, "int32")
    isa.tensor_copy(dst=nearest, src=near)
    isa.tensor_tensor(dst=near, data1=nearest, data2=near, op=subtract)
    return near


def _down(name, x):
    """x minus its floor."""
    rest = _to_nearest(name, x)
    isa.scalar_tensor_tensor(dst=rest, data=rest, op0=greater, operand0=0.0, op1=subtract,
                             operand1=rest)
    return rest


def floor(x, dtype=None):
    """The largest integer that is not above x."""
    rest = _down("floor", x)
    result = new_tile(x.shape, dtype or x.dtype)
    isa.tensor_tensor(dst=result, data1=x, data2=rest, op=subtract)
    return result


def ceil(x, dtype=None):
    """The smallest integer that is not below x."""
    rest = _to_nearest("ceil", x)
    isa.scalar_tensor_tensor(dst=rest, data=rest, op0=less, operand0=0.0, op1=add, operand1=rest)
    result = new_tile(x.shape, dtype or x.dtype)
    isa.tensor_tensor(dst=result, data1=x, data2=rest, op=add)
    return result


def trunc(x, dtype=None):
    """x without its fraction."""
    rest = _down("trunc", x)
    floored = new_tile(x.shape, "float32")
    isa.tensor_tensor(dst=floored, data1=x, data2=rest, op=subtract)
    isa.scalar_tensor_tensor(dst=rest, data=x, op0=less, operand0=0.0, op1=logical_and,
                             operand1=rest)  # 1 where floor went below
    result = new_tile(x.shape, dtype or x.dtype)
    isa.tensor_tensor(dst=result, data1=floored, data2=rest, op=add)
    return result
