"""Sine, cosine and tangent of any x.

The Scalar engine's sine is valid in [-pi, pi]. So whole turns are taken off first, in two parts
whose products with the number of turns keep their precision. The cosine comes from the sine of half
the angle, which makes it 1 at 0.
"""
import math

from nki import isa
from nki.language.arithmetic import add, maximum, minimum, multiply
from nki.language._tiles import new_tile, tile

_TURN = 2 * math.pi
_TURN_HIGH = 6.28125  # 8 bits: exact times a count of turns below 2**16
_TURN_LOW = _TURN - _TURN_HIGH


def _within_a_turn(name, x):
    """x less whole turns, in [-pi, pi], as float32."""
    turns = new_tile(tile(name, "x", x).shape, "int32")  # rounds to nearest
    isa.tensor_scalar(dst=turns, data=x, op0=multiply, operand0=1 / _TURN)
    rest = new_tile(x.shape, "float32")
    isa.scalar_tensor_tensor(dst=rest, data=turns, op0=multiply, operand0=-_TURN_HIGH, op1=add,
                             operand1=x)
    isa.scalar_tensor_tensor(dst=rest, data=turns, op0=multiply, operand0=-_TURN_LOW, op1=add,
                             operand1=rest)
    # Rounding may leave a little more than half a turn.
    isa.tensor_scalar(dst=rest, data=rest, op0=minimum, operand0=math.pi, op1=maximum,
                      operand1=-math.pi)
    return rest


def _sine(rest, dtype):
    result = new_tile(rest.shape, dtype)
    isa.activation(dst=result, op=sin, data=rest)
    return result


def _cosine(rest, dtype):
    """1 - 2 sin(rest / 2) ** 2"""
    half = new_tile(rest.shape, "float32")
    isa.activation(dst=half, op=sin, data=rest, scale=0.5)
    isa.tensor_tensor(dst=half, data1=half, data2=half, op=multiply)
    result = new_tile(rest.shape, dtype)
    isa.tensor_scalar(dst=result, data=half, op0=multiply, operand0=-2.0, op1=add, operand1=1.0)
    return result


def sin(x, dtype=None):
    """The sine."""
    return _sine(_within_a_turn("sin", x), dtype or x.dtype)


def cos(x, dtype=None):
    """The cosine."""
    return _cosine(_within_a_turn("cos", x), dtype or x.dtype)


def tan(x, dtype=None):
    """The tangent: sine times the reciprocal of the cosine."""
    rest = _within_a_turn("tan", x)
    inverse = _cosine(rest, "float32")
    isa.reciprocal(dst=inverse, data=inverse)
    result = new_tile(x.shape, dtype or x.dtype)
    isa.tensor_tensor(dst=result, data1=_sine(rest, "float32"), data2=inverse, op=multiply)
    return result
