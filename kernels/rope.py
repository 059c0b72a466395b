"""Rotary positions followed by QK norm: the host ops `rope_norm` and `rope_norm_grad`.

x [batch, T, heads head_dim]; cos, sin [T, head_dim / 2] fp32 of position base^(-2i / head_dim). Pairs are (i, i + half):
    r1 = x1 cos + x2 sin    r2 = x2 cos - x1 sin    y = gain r rstd, rstd = 1 / sqrt(mean(x^2) + eps) of each head
A rotation keeps lengths, so the norm's statistics come from x. Backward, with v = dy turned back:
    dx = gain rstd (v - x rstd^2 mean(x v))
Without norm, rstd is 1 and dx is gain v.
"""
import nki
import nki.isa as nisa
import nki.language as nl

from tiles import PARTITIONS, hbm, length, load, pieces, sbuf


def rotated(x, cos, sin, head_dim):
    """Reference: x as [batch, T, heads, head_dim] fp32, and the same rotated."""
    import numpy as np
    batch, T, width = x.shape
    wide = np.asarray(x, dtype=np.float32).reshape(batch, T, width // head_dim, head_dim)
    c, s = (np.asarray(t)[None, :, None, :] for t in (cos, sin))
    first, second = wide[..., :head_dim // 2], wide[..., head_dim // 2:]
    return wide, np.concatenate([first * c + second * s, second * c - first * s], axis=-1)


def rope_norm_reference(x, cos, sin, head_dim, eps=1.1920929e-7, gain=1.0, norm=True):
    import numpy as np
    wide, turned = rotated(x, cos, sin, head_dim)
    scale = gain / np.sqrt((wide * wide).mean(axis=-1, keepdims=True) + eps) if norm else gain
    return (turned * scale).reshape(x.shape).astype(x.dtype)


@nki.jit
def rope_norm(x, cos, sin, head_dim, eps=1.1920929e-7, gain=1.0, norm=True):
    out = hbm(x.shape, x.dtype)
    for b, rows, tile, c, s in row_tiles(x, cos, sin, head_dim):
        turned = rotate(tile, c, s, nl.add, nl.subtract)
        result = sbuf(tile.shape, x.dtype)
        if norm:
            scale = reciprocal_rms(tile, eps, gain)
            times_heads(result, turned, scale)
        else:
            nisa.activation(dst=result, op=nl.copy, data=turned, scale=gain)
        nisa.dma_copy(dst=heads_of(out, b, rows, head_dim), src=result)
    return out


def heads_of(x, b, rows, head_dim):
    """x[b, rows] as a [rows, heads, head_dim] view of HBM."""
    batch, time, width = x.shape
    return x.ap(pattern=[[width, length(rows)], [head_dim, width // head_dim], [1, head_dim]],
                offset=(b * time + rows.start) * width)


def row_tiles(x, cos, sin, head_dim):
    """(b, rows, tile [rows, heads, head_dim], cosines, sines) for every 128 rows; batches share the angles."""
    tiles = []
    for rows in pieces(x.shape[1], PARTITIONS):
        c, s = load(cos[rows, :]), load(sin[rows, :])
        for b in range(x.shape[0]):
            tiles.append((b, rows, load(heads_of(x, b, rows, head_dim)), c, s))
    return tiles


def across_heads(angles, heads):
    """Angles [rows, half] for each head: read with step 0 along heads."""
    return angles.expand_dim(1).broadcast(1, heads)


def rotate(tile, c, s, first, second):
    """(x1 cos first x2 sin, x2 cos second x1 sin) of every head, fp32. Vector and GpSimd share the work."""
    rows, heads, head_dim = tile.shape
    half = head_dim // 2
    low, high = tile[:, :, :half], tile[:, :, half:]
    cosines, sines = across_heads(c, heads), across_heads(s, heads)
    turned, crossed = sbuf(tile.shape), sbuf(tile.shape)
    nisa.tensor_tensor(dst=turned[:, :, :half], data1=low, data2=cosines, op=nl.multiply)
    nisa.tensor_tensor(dst=turned[:, :, half:], data1=high, data2=cosines, op=nl.multiply)
    nisa.tensor_tensor(dst=crossed[:, :, :half], data1=high, data2=sines, op=nl.multiply, engine=nisa.engine.gpsimd)
    nisa.tensor_tensor(dst=crossed[:, :, half:], data1=low, data2=sines, op=nl.multiply, engine=nisa.engine.gpsimd)
    nisa.tensor_tensor(dst=turned[:, :, :half], data1=turned[:, :, :half], data2=crossed[:, :, :half], op=first)
    nisa.tensor_tensor(dst=turned[:, :, half:], data1=turned[:, :, half:], data2=crossed[:, :, half:], op=second,
                       engine=nisa.engine.gpsimd)
    return turned


def reciprocal_rms(tile, eps, gain):
    """gain / sqrt(mean(x^2) + eps) of each head: [rows, heads]. The root is of the mean over gain^2."""
    rows, heads, head_dim = tile.shape
    squares, total, mean, scale = sbuf(tile.shape), sbuf((rows, heads)), sbuf((rows, heads)), sbuf((rows, heads))
    nisa.activation(dst=squares, op=nl.square, data=tile)
    nisa.tensor_reduce(dst=total, op=nl.add, data=squares, axis=2)
    nisa.tensor_scalar(dst=mean, data=total, op0=nl.multiply, operand0=1.0 / (head_dim * gain * gain), op1=nl.add,
                       operand1=eps / (gain * gain), engine=nisa.engine.vector)
    nisa.activation(dst=scale, op=nl.rsqrt, data=mean)
    return scale


def times_heads(dst, data, scale):
    """dst = data times one number a head and row."""
    rows, heads, head_dim = data.shape
    nisa.tensor_tensor(dst=dst, data1=data, data2=scale.expand_dim(2).broadcast(2, head_dim), op=nl.multiply,
                       engine=nisa.engine.gpsimd)


def rope_norm_grad_reference(dy, x, cos, sin, head_dim, eps=1.1920929e-7, gain=1.0, norm=True):
    import numpy as np
    back = rotated(dy, cos, -np.asarray(sin), head_dim)[1]
    if not norm:
        return (gain * back).reshape(x.shape).astype(dy.dtype)
    wide, _ = rotated(x, cos, sin, head_dim)
    scale = 1 / np.sqrt((wide * wide).mean(axis=-1, keepdims=True) + eps)
    dx = gain * scale * (back - wide * scale * scale * (wide * back).mean(axis=-1, keepdims=True))
    return dx.reshape(x.shape).astype(dy.dtype)


@nki.jit
def rope_norm_grad(dy, x, cos, sin, head_dim, eps=1.1920929e-7, gain=1.0, norm=True):
    out = hbm(x.shape, dy.dtype)
    for b, rows, gradient, c, s in row_tiles(dy, cos, sin, head_dim):
        back = rotate(gradient, c, s, nl.subtract, nl.add)
        result = sbuf(back.shape, dy.dtype)
        if norm:
            tile = load(heads_of(x, b, rows, head_dim))
            scale = reciprocal_rms(tile, eps, gain)
            times_heads(back, back, scale)
            along = minus_along(tile, back, scale, gain)
            turned = sbuf(tile.shape)
            times_heads(turned, tile, along)
            nisa.tensor_tensor(dst=result, data1=back, data2=turned, op=nl.add, engine=nisa.engine.gpsimd)
        else:
            nisa.activation(dst=result, op=nl.copy, data=back, scale=gain)
        nisa.dma_copy(dst=heads_of(out, b, rows, head_dim), src=result)
    return out


def minus_along(tile, back, scale, gain):
    """-rstd^2 mean(x v) of each head, v being already scaled; scale is gain rstd."""
    rows, heads, head_dim = tile.shape
    product, dot, squared, along = sbuf(tile.shape), sbuf((rows, heads)), sbuf((rows, heads)), sbuf((rows, heads))
    nisa.tensor_tensor(dst=product, data1=tile, data2=back, op=nl.multiply)
    nisa.tensor_reduce(dst=dot, op=nl.add, data=product, axis=2)
    nisa.tensor_tensor(dst=squared, data1=scale, data2=scale, op=nl.multiply)
    nisa.scalar_tensor_tensor(dst=along, data=squared, op0=nl.multiply, operand0=-1.0 / (head_dim * gain * gain),
                              op1=nl.multiply, operand1=dot)
    return along
