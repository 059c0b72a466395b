"""Sine, cosine and tangent of any x.

The Scalar engine's sine is valid in [-pi, pi]. So whole turns are taken off first, in two parts
whose products with the number of turns keep their precision.
"""
import math

from nki import isa
from nki.language.arithmetic import add, maximum, minimum, multiply
from nki.language._tiles import new_tile, tile

_TURN = 2 * math.pi
_TURN_HIGH = 6.28125  # 8 bits: exact times a count of turns below 2**16
_TURN_LOW = _TURN - _TURN_HIGH


def _sine(name, x, dtype, phase):
    """sin(x + phase * 2 pi) of tile x."""
    turns = new_tile(tile(name, "x", x).shape, "int32")  # rounds to nearest
    isa.tensor_scalar(dst=turns, data=x, op0=multiply, operand0=1 / _TURN, op1=add, operand1=phase)
    rest = new_tile(x.shape, "float32")
    isa.scalar_tensor_tensor(dst=rest, data=turns, op0=multiply, operand0=-_TURN_HIGH, op1=add,
                             operand1=x)
    isa.scalar_tensor_tensor(dst=rest, data=turns, op0=multiply, operand0=-_TURN_LOW, op1=add,
                             operand1=rest)
    limit = math.pi - phase * _TURN  # rounding may leave a little more than half a turn
    isa.tensor_scalar(dst=rest, data=rest, op0=minimum, operand0=limit, op1=maximum,
                      operand1=limit - _TURN)
    bias = None
    if phase:
        bias = new_tile((x.shape[0], 1), "float32")  # a column: the first generation takes no number
        isa.memset(dst=bias, value=phase * _TURN)
    result = new_tile(x.shape, dtype or x.dtype)
    isa.activation(dst=result, op=sin, data=rest, bias=bias)
    return result


def sin(x, dtype=None):
    """The sine."""
    return _sine("sin", x, dtype, 0.0)


def cos(x, dtype=None):
    """The cosine."""
    return _sine("cos", x, dtype, 0.25)


def tan(x, dtype=None):
    """The tangent: sine times the reciprocal of the cosine."""
    sine = _sine("tan", x, "float32", 0.0)
    inverse = new_tile(x.shape, "float32")
    isa.reciprocal(dst=inverse, data=_sine("tan", x, "float32", 0.25))
    result = new_tile(x.shape, dtype or x.dtype)
    isa.tensor_tensor(dst=result, data1=sine, data2=inverse, op=multiply)
    return result
