"""Ops that touch each element a few times, between one load and one store: the host ops `add`, `cast`, `mix`,
`mix_grad`, `ema`, `blend` and `gradient_scale`. Tensors are [rows, width]; what the host holds flat or with more axes is
reshaped to that.

    add          a + b, in the type of a            cast       x in another type
    mix          r x + z x0                         mix_grad   r dy; addend + z dy; sum(dy x); sum(dy x0)
    ema          decay average + (1 - decay) p      blend      (1 - alpha) p + alpha average
    gradient_scale  from the sums of squares of all gradients, one of sum_of_squares each
r, z, decay and alpha are tensors [1, 1] fp32: parameters, or numbers that a schedule changes.
"""
import nki
import nki.isa as nisa
import nki.language as nl

from tiles import PARTITIONS, hbm, length, load, load_row, pieces, psum, sbuf

WIDTH = 2048  # elements of a partition in one tile: rows of 4 KiB and more saturate the DMA engines


def blocks(shape, width=WIDTH):
    """(rows, columns) of every tile of a [rows, width] tensor."""
    return [(rows, columns) for rows in pieces(shape[0], PARTITIONS) for columns in pieces(shape[1], width)]


def add_reference(a, b):
    import numpy as np
    return (np.asarray(a, dtype=np.float32) + np.asarray(b, dtype=np.float32)).astype(a.dtype)


@nki.jit
def add(a, b):
    out = hbm(a.shape, a.dtype)
    for rows, columns in blocks(a.shape):
        left, right = load(a[rows, columns]), load(b[rows, columns])
        total = sbuf(left.shape, a.dtype)
        nisa.tensor_tensor(dst=total, data1=left, data2=right, op=nl.add)
        nisa.dma_copy(dst=out[rows, columns], src=total)
    return out


def cast_reference(x, like):
    import numpy as np
    return np.asarray(x, dtype=np.float32).astype(like.dtype)


@nki.jit
def cast(x, like):
    """x in the element type of `like`, a tensor of any shape."""
    out = hbm(x.shape, like.dtype)
    for rows, columns in blocks(x.shape):
        tile = load(x[rows, columns])
        turned = sbuf(tile.shape, like.dtype)
        nisa.tensor_copy(dst=turned, src=tile)
        nisa.dma_copy(dst=out[rows, columns], src=turned)
    return out


def combine(a, b, left, right, out):
    """out = left a + right b; left and right are tiles [128, 1]. One pass each of Scalar and Vector."""
    for rows, columns in blocks(a.shape):
        first, second = load(a[rows, columns]), load(b[rows, columns])
        count = length(rows)
        scaled, total = sbuf(first.shape), sbuf(first.shape, out.dtype)
        nisa.activation(dst=scaled, op=nl.copy, data=first, scale=left[:count, :])
        nisa.scalar_tensor_tensor(dst=total, data=second, op0=nl.multiply, operand0=right[:count, :], op1=nl.add,
                                  operand1=scaled)
        nisa.dma_copy(dst=out[rows, columns], src=total)
    return out


def mix_reference(x, x0, r, z):
    import numpy as np
    a, b = np.asarray(x, dtype=np.float32), np.asarray(x0, dtype=np.float32)
    return (np.asarray(r) * a + np.asarray(z) * b).astype(x.dtype)


@nki.jit
def mix(x, x0, r, z):
    return combine(x, x0, load_row(r, slice(0, 1)), load_row(z, slice(0, 1)), hbm(x.shape, x.dtype))


def mix_grad_reference(dy, x, x0, r, z, addend=None):
    import numpy as np
    g, a, b = (np.asarray(t, dtype=np.float32) for t in (dy, x, x0))
    more = 0 if addend is None else np.asarray(addend, dtype=np.float32)
    sums = [np.sum(g.astype(np.float64) * t, dtype=np.float64).astype(np.float32).reshape(1, 1) for t in (a, b)]
    return (np.asarray(r) * g).astype(dy.dtype), (more + np.asarray(z) * g).astype(dy.dtype), sums[0], sums[1]


@nki.jit
def mix_grad(dy, x, x0, r, z, addend=None):
    """dx, dx0, dr, dz. The products of the two sums are made by GpSimd and Vector and summed by Scalar."""
    dx, dx0 = hbm(dy.shape, dy.dtype), hbm(dy.shape, dy.dtype)
    tiles = blocks(dy.shape)
    scale_r, scale_z = load_row(r, slice(0, 1)), load_row(z, slice(0, 1))
    sums_r, sums_z = sbuf((PARTITIONS, len(tiles))), sbuf((PARTITIONS, len(tiles)))
    if dy.shape[0] % PARTITIONS != 0:
        nisa.memset(dst=sums_r, value=0.0)
        nisa.memset(dst=sums_z, value=0.0)
    for i, (rows, columns) in enumerate(tiles):
        count = length(rows)
        g, a, b = load(dy[rows, columns]), load(x[rows, columns]), load(x0[rows, columns])
        sum_of_product(sums_r[:count, i:i + 1], g, a, nisa.engine.gpsimd)
        sum_of_product(sums_z[:count, i:i + 1], g, b, nisa.engine.vector)
        first, second = sbuf(g.shape, dy.dtype), sbuf(g.shape, dy.dtype)
        nisa.tensor_scalar(dst=first, data=g, op0=nl.multiply, operand0=scale_r[:count, :], engine=nisa.engine.vector)
        if addend != None:
            nisa.scalar_tensor_tensor(dst=second, data=g, op0=nl.multiply, operand0=scale_z[:count, :], op1=nl.add,
                                      operand1=load(addend[rows, columns]))
        else:
            nisa.tensor_scalar(dst=second, data=g, op0=nl.multiply, operand0=scale_z[:count, :],
                               engine=nisa.engine.vector)
        nisa.dma_copy(dst=dx[rows, columns], src=first)
        nisa.dma_copy(dst=dx0[rows, columns], src=second)
    return dx, dx0, total_of(sums_r), total_of(sums_z)


def sum_of_product(dst, a, b, engine):
    """dst[128, 1] = the sum over columns of a b."""
    product, copied = sbuf(a.shape), sbuf(a.shape, nl.bfloat16)
    nisa.tensor_tensor(dst=product, data1=a, data2=b, op=nl.multiply, engine=engine)
    nisa.activation_reduce(dst=copied, op=nl.copy, data=product, reduce_op=nl.add, reduce_res=dst)


def total_of(sums):
    """The sum of all of a tile as a [1, 1] tensor: over columns on Vector, over partitions as a product with ones."""
    column, ones = sbuf((sums.shape[0], 1)), sbuf((sums.shape[0], 1))
    nisa.tensor_reduce(dst=column, op=nl.add, data=sums, axis=1)
    nisa.memset(dst=ones, value=1.0)
    total, result = psum((1, 1)), sbuf((1, 1))
    nisa.nc_matmul(dst=total, stationary=column, moving=ones)
    nisa.tensor_copy(dst=result, src=total)
    out = hbm((1, 1))
    nisa.dma_copy(dst=out, src=result)
    return out


def rest_of(share):
    """1 - share of a [1, 1] tensor on every partition, and share itself."""
    here, rest = load_row(share, slice(0, 1)), sbuf((PARTITIONS, 1))
    nisa.tensor_scalar(dst=rest, data=here, op0=nl.multiply, operand0=-1.0, op1=nl.add, operand1=1.0)
    return rest, here


def ema_reference(p, decay, average):
    import numpy as np
    return (np.asarray(decay) * average + (1 - np.asarray(decay)) * p).astype(average.dtype)


@nki.jit
def ema(p, decay, average):
    rest, share = rest_of(decay)
    return combine(average, p, share, rest, hbm(average.shape, average.dtype))


def blend_reference(average, alpha, p):
    import numpy as np
    return ((1 - np.asarray(alpha)) * p + np.asarray(alpha) * average).astype(p.dtype)


@nki.jit
def blend(average, alpha, p):
    rest, share = rest_of(alpha)
    return combine(p, average, rest, share, hbm(p.shape, p.dtype))


def sum_of_squares_reference(x):
    import numpy as np
    return np.sum(np.asarray(x, dtype=np.float64)**2).reshape(1, 1).astype(np.float32)


@nki.jit
def sum_of_squares(x):
    """What one gradient adds to the squared norm."""
    tiles = blocks(x.shape, 2 * WIDTH)
    sums = sbuf((PARTITIONS, len(tiles)))
    if x.shape[0] % PARTITIONS != 0:
        nisa.memset(dst=sums, value=0.0)
    for i, (rows, columns) in enumerate(tiles):
        tile = load(x[rows, columns])
        unread = sbuf(tile.shape, nl.bfloat16)
        nisa.activation_reduce(dst=unread, op=nl.square, data=tile, reduce_op=nl.add,
                               reduce_res=sums[:length(rows), i:i + 1])
    return total_of(sums)


def gradient_scale_reference(squares, micro_batches, clip=1.0):
    import numpy as np
    mean = 1 / np.asarray(micro_batches)
    norm = np.sqrt(np.asarray(squares).sum()) * mean
    return (np.where((clip > 0) & (norm > clip), mean * clip / norm, mean)).astype(np.float32), norm.astype(np.float32)


@nki.jit
def gradient_scale(squares, micro_batches, clip=1.0):
    """Scale and norm [1, 1] from the sums of squares [1, n] of all gradients: mean min(1, clip / norm); no clip when 0."""
    given, total, mean, norm, scale = load(squares), sbuf((1, 1)), sbuf((1, 1)), sbuf((1, 1)), sbuf((1, 1))
    nisa.tensor_reduce(dst=total, op=nl.add, data=given, axis=1)
    nisa.reciprocal(dst=mean, data=load(micro_batches))
    nisa.activation(dst=norm, op=nl.sqrt, data=total)
    nisa.tensor_tensor(dst=norm, data1=norm, data2=mean, op=nl.multiply)
    if clip > 0:
        share = sbuf((1, 1))
        nisa.tensor_scalar(dst=share, data=norm, op0=nl.maximum, operand0=clip, engine=nisa.engine.vector)
        nisa.reciprocal(dst=share, data=share)
        nisa.scalar_tensor_tensor(dst=scale, data=share, op0=nl.multiply, operand0=clip, op1=nl.multiply, operand1=mean)
    else:
        nisa.tensor_copy(dst=scale, src=mean)
    outs = [hbm((1, 1)), hbm((1, 1))]
    nisa.dma_copy(dst=outs[0], src=scale)
    nisa.dma_copy(dst=outs[1], src=norm)
    return outs[0], outs[1]
