"""RMSNorm over rows, which lie on partitions 128 at a time.

    rmsnorm        y = x / sqrt(mean(x^2) + eps) gain, a learned gain [1, width]
    rms_norm       the same without gain: the host op of that name
    rms_norm_grad  dx = addend + rstd (dy - y mean(dy y)), rstd = 1 / sqrt(mean(x^2) + eps): the host op of that name
"""
import nki
import nki.isa as nisa
import nki.language as nl

from tiles import hbm, load, load_row, row_blocks, rows_view, sbuf

NARROW = 1024  # widest row whose squares Vector helps to sum


def rmsnorm_reference(x, gain, eps=1e-6):
    import numpy as np
    wide = np.asarray(x, dtype=np.float32)
    scale = 1 / np.sqrt((wide * wide).mean(axis=1, keepdims=True) + eps)
    return (wide * scale * np.asarray(gain, dtype=np.float32)).astype(x.dtype)


@nki.jit
def rmsnorm(x, gain, eps=1e-6):
    """One pass over x: each element is read from HBM once and written once."""
    rows, width = x.shape
    out = hbm(x.shape, x.dtype)
    gains = load_row(gain, slice(0, width))
    for block in row_blocks(rows, width):
        tile = load(rows_view(x, block))
        partitions, each, width = tile.shape
        scale = reciprocal_rms(tile, eps)
        normed = sbuf(tile.shape, x.dtype)
        for j in range(each):
            nisa.scalar_tensor_tensor(dst=normed[:, j, :], data=tile[:, j, :], op0=nl.multiply,
                                      operand0=scale[:, j:j + 1], op1=nl.multiply, operand1=gains[:partitions, :])
        nisa.dma_copy(dst=rows_view(out, block), src=normed)
    return out


def reciprocal_rms(tile, eps, narrow=NARROW):
    """1 / sqrt(mean + eps) of the squares of each row of [partitions, rows, width]: [partitions, rows] fp32. A sum comes
    out of the activation that squares, but reading it takes Scalar as long as 200 elements; so of rows up to `narrow`
    two thirds are squared together and summed by Vector."""
    partitions, each, width = tile.shape
    total, mean, scale = sbuf((partitions, each)), sbuf((partitions, each)), sbuf((partitions, each))
    read = (each + 2) // 3 if width <= narrow else each
    unread = sbuf((partitions, width), nl.bfloat16)
    for j in range(read):
        nisa.activation_reduce(dst=unread, op=nl.square, data=tile[:, j, :], reduce_op=nl.add, reduce_res=total[:, j:j + 1])
    if read < each:
        squares = sbuf((partitions, each - read, width))
        nisa.activation(dst=squares, op=nl.square, data=tile[:, read:, :])
        nisa.tensor_reduce(dst=total[:, read:], op=nl.add, data=squares, axis=2)
    nisa.tensor_scalar(dst=mean, data=total, op0=nl.multiply, operand0=1.0 / width, op1=nl.add, operand1=eps,
                       engine=nisa.engine.vector)
    nisa.activation(dst=scale, op=nl.rsqrt, data=mean)
    return scale


def rms_norm_reference(x, eps=1.1920929e-7):
    import numpy as np
    wide = np.asarray(x, dtype=np.float32)
    return (wide / np.sqrt((wide * wide).mean(axis=1, keepdims=True) + eps)).astype(x.dtype)


@nki.jit
def rms_norm(x, eps=1.1920929e-7):
    out = hbm(x.shape, x.dtype)
    for block in row_blocks(x.shape[0], x.shape[1]):
        tile = load(rows_view(x, block))
        scale = reciprocal_rms(tile, eps)
        normed = sbuf(tile.shape, x.dtype)
        for j in range(tile.shape[1]):
            nisa.tensor_scalar(dst=normed[:, j, :], data=tile[:, j, :], op0=nl.multiply, operand0=scale[:, j:j + 1],
                               engine=nisa.engine.vector)
        nisa.dma_copy(dst=rows_view(out, block), src=normed)
    return out


def rms_norm_grad_reference(dy, x, addend=None, eps=1.1920929e-7):
    import numpy as np
    g, wide = (np.asarray(t, dtype=np.float32) for t in (dy, x))
    scale = 1 / np.sqrt((wide * wide).mean(axis=1, keepdims=True) + eps)
    y = wide * scale
    dx = scale * (g - y * (g * y).mean(axis=1, keepdims=True))
    return (dx if addend is None else dx + np.asarray(addend, dtype=np.float32)).astype(dy.dtype)


@nki.jit
def rms_norm_grad(dy, x, addend=None, eps=1.1920929e-7):
    """Per row dx = rstd dy - along x, along = rstd^3 mean(dy x). GpSimd makes the products, Scalar both sums, Vector the
    result."""
    rows, width = x.shape
    out = hbm(x.shape, dy.dtype)
    for block in row_blocks(rows, width):
        tile, gradient = load(rows_view(x, block)), load(rows_view(dy, block))
        scale = reciprocal_rms(tile, eps, narrow=0)
        along = minus_along(tile, gradient, scale)
        turned, result = sbuf(tile.shape), sbuf(tile.shape, dy.dtype)
        more = load(rows_view(addend, block)) if addend != None else None
        for j in range(tile.shape[1]):
            if addend != None:
                nisa.scalar_tensor_tensor(dst=turned[:, j, :], data=tile[:, j, :], op0=nl.multiply,
                                          operand0=along[:, j:j + 1], op1=nl.add, operand1=more[:, j, :])
            else:
                nisa.tensor_scalar(dst=turned[:, j, :], data=tile[:, j, :], op0=nl.multiply, operand0=along[:, j:j + 1],
                                   engine=nisa.engine.vector)
            nisa.scalar_tensor_tensor(dst=result[:, j, :], data=gradient[:, j, :], op0=nl.multiply,
                                      operand0=scale[:, j:j + 1], op1=nl.add, operand1=turned[:, j, :])
        nisa.dma_copy(dst=rows_view(out, block), src=result)
    return out


def minus_along(tile, gradient, scale):
    """-scale^3 mean(gradient tile) of each row."""
    partitions, each, width = tile.shape
    product, unread, dot = sbuf(tile.shape), sbuf((partitions, width), nl.bfloat16), sbuf((partitions, each))
    nisa.tensor_tensor(dst=product, data1=gradient, data2=tile, op=nl.multiply, engine=nisa.engine.gpsimd)
    for j in range(each):
        nisa.activation_reduce(dst=unread, op=nl.copy, data=product[:, j, :], reduce_op=nl.add,
                               reduce_res=dot[:, j:j + 1])
    squared, along = sbuf((partitions, each)), sbuf((partitions, each))
    nisa.tensor_tensor(dst=squared, data1=scale, data2=scale, op=nl.multiply)
    nisa.tensor_tensor(dst=squared, data1=squared, data2=scale, op=nl.multiply)
    nisa.scalar_tensor_tensor(dst=along, data=squared, op0=nl.multiply, operand0=-1.0 / width, op1=nl.multiply,
                              operand1=dot)
    return along
