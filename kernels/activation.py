"""Activation functions of the feed-forward layer and their derivatives: the host ops `activation`, `activation_grad`,
`swiglu` and `swiglu_grad`. Tensors are [rows, width].

    relu2 max(x, 0)^2    leaky_relu2 leaky(x)^2, leaky(x) = x or slope x below 0    gelu x Phi(x), the erf form
    silu x sigmoid(x)    swiglu silu(gate) up
"""
import nki
import nki.isa as nisa
import nki.language as nl

from pointwise import blocks
from tiles import hbm, load, sbuf


def sigmoid_of(x):
    import numpy as np
    return 1 / (1 + np.exp(-x))


def erf_of(x):
    import math

    import numpy as np
    return np.vectorize(math.erf)(x)


def activation_reference(x, kind="relu2", slope=0.5):
    import numpy as np
    v = np.asarray(x, dtype=np.float32)
    if kind == "relu2":
        y = np.maximum(v, 0)**2
    elif kind == "leaky_relu2":
        y = np.maximum(v, slope * v)**2
    elif kind == "gelu":
        y = v * (1 + erf_of(v / np.sqrt(2))) / 2
    else:
        y = v * sigmoid_of(v)
    return y.astype(x.dtype)


def activation_grad_reference(dy, x, kind="relu2", slope=0.5):
    import numpy as np
    v, g = np.asarray(x, dtype=np.float32), np.asarray(dy, dtype=np.float32)
    if kind == "relu2":
        slopes = 2 * np.maximum(v, 0)
    elif kind == "leaky_relu2":
        slopes = 2 * np.maximum(v, slope * slope * v)
    elif kind == "gelu":
        slopes = (1 + erf_of(v / np.sqrt(2))) / 2 + v * np.exp(-v * v / 2) / np.sqrt(2 * np.pi)
    else:
        slopes = sigmoid_of(v) * (1 + v * (1 - sigmoid_of(v)))
    return (g * slopes).astype(x.dtype)


@nki.jit
def activation(x, kind="relu2", slope=0.5):
    """kind: relu2, leaky_relu2, gelu or silu. One pass of one engine, two for leaky_relu2."""
    out = hbm(x.shape, x.dtype)
    for rows, columns in blocks(x.shape):
        tile = load(x[rows, columns])
        result = sbuf(tile.shape, x.dtype)
        activate(result, tile, kind, slope)
        nisa.dma_copy(dst=out[rows, columns], src=result)
    return out


def activate(dst, data, kind, slope=0.5):
    """dst = f(data), data in SBUF or PSUM. An instruction of Vector reads PSUM by one operand only."""
    if kind == "relu2":
        # max(x, 0) x is max(x, 0)^2.
        if nl.is_psum(data.buffer):
            positive = sbuf(dst.shape)
            nisa.activation(dst=positive, op=nl.relu, data=data)
            nisa.tensor_tensor(dst=dst, data1=positive, data2=data, op=nl.multiply)
        else:
            nisa.scalar_tensor_tensor(dst=dst, data=data, op0=nl.maximum, operand0=0.0, op1=nl.multiply, operand1=data)
    elif kind == "leaky_relu2":
        sloped, leaky = sbuf(dst.shape), sbuf(dst.shape)
        nisa.activation(dst=sloped, op=nl.copy, data=data, scale=slope)
        nisa.tensor_tensor(dst=leaky, data1=sloped, data2=data, op=nl.maximum)
        nisa.activation(dst=dst, op=nl.square, data=leaky)
    elif kind == "gelu":
        nisa.activation(dst=dst, op=nl.gelu, data=data)
    else:
        assert kind == "silu", f"kind is {kind}; expected relu2, leaky_relu2, gelu or silu"
        nisa.activation(dst=dst, op=nl.silu, data=data)


@nki.jit
def activation_grad(dy, x, kind="relu2", slope=0.5):
    """dx = dy f'(x): the slope from one pass of Scalar (Vector for leaky_relu2), the product from one of Vector."""
    out = hbm(x.shape, x.dtype)
    for rows, columns in blocks(x.shape):
        tile, gradient = load(x[rows, columns]), load(dy[rows, columns])
        result = sbuf(tile.shape, x.dtype)
        if kind == "leaky_relu2":
            # leaky(x) leaky'(x) is the larger of x and slope^2 x.
            leaky, twice = sbuf(tile.shape), sbuf(tile.shape)
            nisa.scalar_tensor_tensor(dst=leaky, data=tile, op0=nl.multiply, operand0=slope * slope, op1=nl.maximum,
                                      operand1=tile)
            nisa.activation(dst=twice, op=nl.copy, data=leaky, scale=2.0)
            nisa.tensor_tensor(dst=result, data1=twice, data2=gradient, op=nl.multiply)
        else:
            # 2 max(x, 0) is as exact in x's type as x; the other slopes stay in fp32.
            slopes = sbuf(tile.shape, x.dtype if kind == "relu2" else nl.float32)
            slope_of(slopes, tile, kind)
            nisa.tensor_tensor(dst=result, data1=slopes, data2=gradient, op=nl.multiply)
        nisa.dma_copy(dst=out[rows, columns], src=result)
    return out


def slope_of(dst, data, kind):
    if kind == "relu2":
        nisa.activation(dst=dst, op=nl.relu, data=data, scale=2.0)
    elif kind == "gelu":
        nisa.activation(dst=dst, op=nl.gelu_dx, data=data)
    else:
        assert kind == "silu", f"kind is {kind}; expected relu2, leaky_relu2, gelu or silu"
        nisa.activation(dst=dst, op=nl.silu_dx, data=data)


def swiglu_reference(gate, up):
    import numpy as np
    g = np.asarray(gate, dtype=np.float32)
    return (g * sigmoid_of(g) * np.asarray(up, dtype=np.float32)).astype(gate.dtype)


@nki.jit
def swiglu(gate, up):
    out = hbm(gate.shape, gate.dtype)
    for rows, columns in blocks(gate.shape):
        tile, factor = load(gate[rows, columns]), load(up[rows, columns])
        opened, result = sbuf(tile.shape), sbuf(tile.shape, gate.dtype)
        nisa.activation(dst=opened, op=nl.silu, data=tile)
        nisa.tensor_tensor(dst=result, data1=opened, data2=factor, op=nl.multiply)
        nisa.dma_copy(dst=out[rows, columns], src=result)
    return out


def swiglu_grad_reference(dy, gate, up):
    import numpy as np
    d, g, u = (np.asarray(t, dtype=np.float32) for t in (dy, gate, up))
    s = sigmoid_of(g)
    return (d * u * s * (1 + g * (1 - s))).astype(gate.dtype), (d * g * s).astype(up.dtype)


@nki.jit
def swiglu_grad(dy, gate, up):
    """dgate, dup."""
    dgate, dup = hbm(gate.shape, gate.dtype), hbm(up.shape, up.dtype)
    for rows, columns in blocks(gate.shape, 4096):
        d, g, u = load(dy[rows, columns]), load(gate[rows, columns]), load(up[rows, columns])
        opened, slopes, both = sbuf(g.shape), sbuf(g.shape), sbuf(g.shape)
        nisa.activation(dst=opened, op=nl.silu, data=g)
        nisa.activation(dst=slopes, op=nl.silu_dx, data=g)
        nisa.tensor_tensor(dst=both, data1=d, data2=u, op=nl.multiply, engine=nisa.engine.gpsimd)
        to_gate, to_up = sbuf(g.shape, gate.dtype), sbuf(g.shape, up.dtype)
        nisa.tensor_tensor(dst=to_gate, data1=both, data2=slopes, op=nl.multiply)
        nisa.tensor_tensor(dst=to_up, data1=d, data2=opened, op=nl.multiply)
        nisa.dma_copy(dst=dgate[rows, columns], src=to_gate)
        nisa.dma_copy(dst=dup[rows, columns], src=to_up)
    return dgate, dup
