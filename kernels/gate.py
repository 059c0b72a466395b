"""Gated mixing with a token's value embedding and with the token before: the host ops `value_gate`, `value_gate_grad`,
`smear` and `smear_grad`.

    value_gate  y = v + scale sigmoid(g) e           v, e [tokens, heads head_dim], g [tokens, heads]
    smear       y[t] = x[t] + lambda sigmoid(g[t]) x[t - 1], y[0] = x[0]      x [batch, T, width], g [batch, T, 1]
lambda is a tensor [1, 1] fp32.
"""
import nki
import nki.isa as nisa
import nki.language as nl

from pointwise import total_of
from tiles import PARTITIONS, hbm, length, load, load_row, pieces, sbuf


def sigmoid_reference(g):
    import numpy as np
    return 1 / (1 + np.exp(-np.asarray(g, dtype=np.float32)))


def value_gate_reference(v, g, e, scale=3.0):
    import numpy as np
    tokens, heads = g.shape
    more = scale * sigmoid_reference(g)[..., None] * np.asarray(e, dtype=np.float32).reshape(tokens, heads, -1)
    return (np.asarray(v, dtype=np.float32) + more.reshape(v.shape)).astype(v.dtype)


def share_of(g, factor):
    """factor sigmoid(g) of a tile, and sigmoid(g)."""
    opened, share = sbuf(g.shape), sbuf(g.shape)
    nisa.activation(dst=opened, op=nl.sigmoid, data=g)
    nisa.tensor_scalar(dst=share, data=opened, op0=nl.multiply, operand0=factor, engine=nisa.engine.vector)
    return share, opened


@nki.jit
def value_gate(v, g, e, scale=3.0):
    tokens, heads = g.shape
    size = v.shape[1] // heads
    out = hbm(v.shape, v.dtype)
    for here in pieces(tokens, PARTITIONS):
        share, _ = share_of(load(g[here, :]), scale)
        own, other = load(v[here, :]), load(e[here, :])
        result = sbuf(own.shape, v.dtype)
        for h, head in enumerate(pieces(v.shape[1], size)):
            nisa.scalar_tensor_tensor(dst=result[:, head], data=other[:, head], op0=nl.multiply, operand0=share[:, h:h + 1],
                                      op1=nl.add, operand1=own[:, head])
        nisa.dma_copy(dst=out[here, :], src=result)
    return out


def value_gate_grad_reference(dy, g, e, scale=3.0):
    import numpy as np
    tokens, heads = g.shape
    d, other = (np.asarray(t, dtype=np.float32).reshape(tokens, heads, -1) for t in (dy, e))
    s = sigmoid_reference(g)
    return (scale * s * (1 - s) * (d * other).sum(axis=-1)).astype(g.dtype), (scale * s[..., None] * d).reshape(
        e.shape).astype(e.dtype)


@nki.jit
def value_gate_grad(dy, g, e, scale=3.0):
    """dg, de."""
    tokens, heads = g.shape
    size = e.shape[1] // heads
    dg, de = hbm(g.shape, g.dtype), hbm(e.shape, e.dtype)
    for here in pieces(tokens, PARTITIONS):
        share, opened = share_of(load(g[here, :]), scale)
        gradient, other = load(dy[here, :]), load(e[here, :])
        product, dot = sbuf((length(here), heads, size)), sbuf(share.shape)
        result, to_gate = sbuf(other.shape, e.dtype), sbuf(share.shape, g.dtype)
        for h, head in enumerate(pieces(e.shape[1], size)):
            nisa.tensor_tensor(dst=product[:, h, :], data1=gradient[:, head], data2=other[:, head], op=nl.multiply,
                               engine=nisa.engine.gpsimd)
            nisa.tensor_scalar(dst=result[:, head], data=gradient[:, head], op0=nl.multiply, operand0=share[:, h:h + 1],
                               engine=nisa.engine.vector)
        nisa.tensor_reduce(dst=dot, op=nl.add, data=product, axis=2)
        slope_times(to_gate, share, opened, dot)
        nisa.dma_copy(dst=de[here, :], src=result)
        nisa.dma_copy(dst=dg[here, :], src=to_gate)
    return dg, de


def slope_times(dst, share, opened, dot):
    """dst = share (1 - opened) dot, share being a multiple of opened."""
    kept = sbuf(share.shape)
    nisa.scalar_tensor_tensor(dst=kept, data=opened, op0=nl.subtract, operand0=1.0, op1=nl.multiply, operand1=share)
    nisa.scalar_tensor_tensor(dst=dst, data=kept, op0=nl.multiply, operand0=-1.0, op1=nl.multiply, operand1=dot)


def before(x):
    """Reference: x one time later, fp32, with 0 first."""
    import numpy as np
    return np.pad(np.asarray(x, dtype=np.float32), ((0, 0), (1, 0), (0, 0)))[:, :-1]


def smear_reference(x, g, scale):
    import numpy as np
    return (np.asarray(x, dtype=np.float32) + np.asarray(scale)[0, 0] * sigmoid_reference(g) * before(x)).astype(x.dtype)


@nki.jit
def smear(x, g, scale):
    """scale is lambda. The token before is another load, one row earlier."""
    batch, time, width = x.shape
    out = hbm(x.shape, x.dtype)
    factor = load_row(scale, slice(0, 1))
    for b in nl.affine_range(batch):
        for here in pieces(time, PARTITIONS):
            share, _ = share_of(load(g[b, here, :]), factor[:length(here), :])
            own, past, result = load(x[b, here, :]), load_shifted(x, b, here, -1), sbuf((length(here), width), x.dtype)
            nisa.scalar_tensor_tensor(dst=result, data=past, op0=nl.multiply, operand0=share, op1=nl.add, operand1=own)
            nisa.dma_copy(dst=out[b, here, :], src=result)
    return out


def load_shifted(x, b, here, by):
    """x[b, here + by] for by of -1 or 1; 0 where that is no time of the row."""
    start, stop = max(here.start + by, 0), min(here.stop + by, x.shape[1])
    tile = sbuf((length(here), x.shape[2]), x.dtype)
    if stop - start < length(here):
        nisa.memset(dst=tile, value=0.0)
    at = start - here.start - by
    if stop > start:
        nisa.dma_copy(dst=tile[at:at + stop - start, :], src=x[b, start:stop, :])
    return tile


def smear_grad_reference(dy, x, g, scale):
    import numpy as np
    d, s, factor = np.asarray(dy, dtype=np.float32), sigmoid_reference(g), np.asarray(scale)[0, 0]
    passed = factor * s * d
    dx = d + np.pad(passed, ((0, 0), (0, 1), (0, 0)))[:, 1:]
    dot = (d * before(x)).sum(axis=-1, keepdims=True)
    dlambda = (s * dot).sum().reshape(1, 1).astype(np.float32)
    return dx.astype(dy.dtype), (factor * s * (1 - s) * dot).astype(g.dtype), dlambda


@nki.jit
def smear_grad(dy, x, g, scale):
    """dx, dg and the gradient of lambda."""
    batch, time, width = x.shape
    dx, dg = hbm(x.shape, dy.dtype), hbm(g.shape, g.dtype)
    factor = load_row(scale, slice(0, 1))
    tiles = [(b, here) for b in range(batch) for here in pieces(time, PARTITIONS)]
    sums = sbuf((PARTITIONS, len(tiles)))
    if time % PARTITIONS != 0:
        nisa.memset(dst=sums, value=0.0)
    for i, (b, here) in enumerate(tiles):
        count = length(here)
        share, opened = share_of(load(g[b, here, :]), factor[:count, :])
        later_share, _ = share_of(load_shifted(g, b, here, 1), factor[:count, :])
        gradient, later, past = load(dy[b, here, :]), load_shifted(dy, b, here, 1), load_shifted(x, b, here, -1)
        result, to_gate, product = sbuf(gradient.shape, dy.dtype), sbuf(share.shape, g.dtype), sbuf(gradient.shape)
        unread, dot = sbuf(gradient.shape, nl.bfloat16), sbuf(share.shape)
        nisa.scalar_tensor_tensor(dst=result, data=later, op0=nl.multiply, operand0=later_share, op1=nl.add,
                                  operand1=gradient)
        nisa.tensor_tensor(dst=product, data1=gradient, data2=past, op=nl.multiply, engine=nisa.engine.gpsimd)
        nisa.activation_reduce(dst=unread, op=nl.copy, data=product, reduce_op=nl.add, reduce_res=dot)
        slope_times(to_gate, share, opened, dot)
        nisa.tensor_tensor(dst=sums[:count, i:i + 1], data1=opened, data2=dot, op=nl.multiply)
        nisa.dma_copy(dst=dx[b, here, :], src=result)
        nisa.dma_copy(dst=dg[b, here, :], src=to_gate)
    return dx, dg, total_of(sums)
