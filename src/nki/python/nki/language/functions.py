"""Functions of one tile, element by element: one instruction each, most on the Scalar engine."""
from nki import isa
from nki._errors import error
from nki.language._tiles import new_tile, tile
from nki.language.memory import is_psum


def _activation(name, op, x, dtype):
    result = new_tile(tile(name, "x", x).shape, dtype or x.dtype)
    isa.activation(dst=result, op=op, data=x)
    return result


def exp(x, dtype=None):
    """e to the power of x."""
    return _activation("exp", exp, x, dtype)


def log(x, dtype=None):
    """The natural logarithm."""
    return _activation("log", log, x, dtype)


def sqrt(x, dtype=None):
    """The square root."""
    return _activation("sqrt", sqrt, x, dtype)


def rsqrt(x, dtype=None):
    """1 / sqrt(x), on the GpSimd engine for its precision; nisa.activation is the fast way."""
    if is_psum(tile("rsqrt", "x", x).buffer):
        raise error("memory", "rsqrt: x is in PSUM, which the GpSimd engine cannot read; copy it "
                    "with nl.copy, or use nisa.activation(op=nl.rsqrt)")
    result = new_tile(x.shape, dtype or x.dtype)
    isa.tensor_scalar(dst=result, data=x, op0=rsqrt, operand0=0.0, engine=isa.engine.gpsimd)
    return result


def reciprocal(x, dtype=None):
    """1 / x, on the Vector engine."""
    result = new_tile(tile("reciprocal", "x", x).shape, dtype or x.dtype)
    isa.reciprocal(dst=result, data=x)
    return result


def square(x, dtype=None):
    """x * x"""
    return _activation("square", square, x, dtype)


def abs(x, dtype=None):
    """The magnitude."""
    return _activation("abs", abs, x, dtype)


def sign(x, dtype=None):
    """-1, 0 or 1."""
    return _activation("sign", sign, x, dtype)


def negative(x, dtype=None):
    """-x"""
    from nki.language.arithmetic import multiply
    result = new_tile(tile("negative", "x", x).shape, dtype or x.dtype)
    isa.tensor_scalar(dst=result, data=x, op0=multiply, operand0=-1.0)
    return result


def tanh(x, dtype=None):
    """The hyperbolic tangent."""
    return _activation("tanh", tanh, x, dtype)


def arctan(x, dtype=None):
    """The inverse tangent; the Scalar engine's is valid in [-pi/2, pi/2]."""
    return _activation("arctan", arctan, x, dtype)


def sigmoid(x, dtype=None):
    """1 / (1 + exp(-x))"""
    return _activation("sigmoid", sigmoid, x, dtype)


def relu(x, dtype=None):
    """max(x, 0)"""
    return _activation("relu", relu, x, dtype)


def gelu(x, dtype=None):
    """x times the normal distribution's integral up to x."""
    return _activation("gelu", gelu, x, dtype)


def gelu_dx(x, dtype=None):
    """The derivative of gelu."""
    return _activation("gelu_dx", gelu_dx, x, dtype)


def gelu_apprx_tanh(x, dtype=None):
    """gelu by the approximation with tanh."""
    return _activation("gelu_apprx_tanh", gelu_apprx_tanh, x, dtype)


def gelu_apprx_tanh_dx(x, dtype=None):
    """The derivative of gelu_apprx_tanh."""
    return _activation("gelu_apprx_tanh_dx", gelu_apprx_tanh_dx, x, dtype)


def gelu_apprx_sigmoid(x, dtype=None):
    """gelu by x * sigmoid(1.702 x)."""
    return _activation("gelu_apprx_sigmoid", gelu_apprx_sigmoid, x, dtype)


def gelu_apprx_sigmoid_dx(x, dtype=None):
    """The derivative of gelu_apprx_sigmoid."""
    return _activation("gelu_apprx_sigmoid_dx", gelu_apprx_sigmoid_dx, x, dtype)


def silu(x, dtype=None):
    """x * sigmoid(x)"""
    return _activation("silu", silu, x, dtype)


def silu_dx(x, dtype=None):
    """The derivative of silu."""
    return _activation("silu_dx", silu_dx, x, dtype)


def softplus(x, dtype=None):
    """log(1 + exp(x))"""
    return _activation("softplus", softplus, x, dtype)


def mish(x, dtype=None):
    """x * tanh(softplus(x))"""
    return _activation("mish", mish, x, dtype)


def erf(x, dtype=None):
    """The error function."""
    return _activation("erf", erf, x, dtype)


def erf_dx(x, dtype=None):
    """The derivative of erf."""
    return _activation("erf_dx", erf_dx, x, dtype)
