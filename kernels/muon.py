"""Muon for one weight matrix, its iteration and its update: the host op `muon` with nesterov, normuon and cautious at
their defaults (row_equilibrate and renormalise off). gradient, momentum, weight [rows, cols] fp32; moment [rows, 1] when
rows >= cols, else [1, cols].

    buf <- buf + (1 - momentum)(g - buf)        x = g + momentum (buf - g)
    x <- x / (1.01 |x| + 1e-6), then five times x <- a x + (b A + c A A) x with A = x x^T on the short side
    NorMuon: x times 1 / sqrt(second moment) per row (column), its norm kept
    w <- w - lr sqrt(max(1, rows / cols)) (x + decay w where x w >= 0)
Products take bf16 and sum in fp32. x stays in SBUF from the norm to the last iteration.
"""
import nki
import nki.isa as nisa
import nki.language as nl

from pointwise import blocks
from tiles import BANK, PARTITIONS, hbm, length, load, load_row, load_transposed, pieces, psum, sbuf

# Polar Express (arXiv 2505.16932), five steps with safety factor 0.02.
STEPS = ((8.156554524902461, -22.48329292557795, 15.878769915207462),
         (4.042929935166739, -2.808917465908714, 0.5000178451051316),
         (3.8916678022926607, -2.772484153217685, 0.5060648178503393),
         (3.285753657755655, -2.3681294933425376, 0.46449024233003106),
         (2.3465413258596377, -1.7097828382687081, 0.42323551169305323))
WIDE = 2**21  # elements up to which x is kept in fp32 between iterations; larger matrices keep bf16


def polar_express_reference(x, steps=5):
    import numpy as np
    half = lambda t: np.asarray(t, dtype=np.float32).astype("bfloat16").astype(np.float32)
    tall = x.shape[0] > x.shape[1]
    z = np.asarray(x.T if tall else x, dtype=np.float32)
    z = z / (np.float32(1.01) * np.sqrt((z.astype(np.float64)**2).sum()).astype(np.float32) + np.float32(1e-6))
    for a, b, c in STEPS[:steps]:
        operand = half(z)
        gram = operand @ operand.T
        square = half(gram) @ half(gram)
        z = np.float32(a) * z + half(np.float32(b) * gram + np.float32(c) * square) @ operand
    return (z.T if tall else z).astype(np.float32)


@nki.jit
def polar_express(x, steps=5):
    """x [rows, cols] fp32, the shorter side at most 1024 and the longer at most 4096, replaced by its polar factor."""
    out = hbm(x.shape)
    squares = sbuf((PARTITIONS, 1))
    for n, (rows, columns) in enumerate(blocks(x.shape, 4096)):
        add_squares(squares, load(x[rows, columns]), n == 0)
    iterate(x, out, total_on_all(squares), steps)
    return out


def add_squares(squares, tile, first):
    """squares [128, 1] gets the sums over columns of tile^2, on top of what it has."""
    count = tile.shape[0]
    if first:
        nisa.memset(dst=squares, value=0.0)
    unread, more = sbuf(tile.shape, nl.bfloat16), sbuf((count, 1))
    nisa.activation_reduce(dst=unread, op=nl.square, data=tile, reduce_op=nl.add, reduce_res=more)
    nisa.tensor_tensor(dst=squares[:count, :], data1=squares[:count, :], data2=more, op=nl.add)


def total_on_all(column):
    """The sum over partitions of [128, n], on every partition: a product with ones."""
    ones, total, result = sbuf((PARTITIONS, PARTITIONS)), psum(column.shape), sbuf(column.shape)
    nisa.memset(dst=ones, value=1.0)
    nisa.nc_matmul(dst=total, stationary=ones, moving=column)
    nisa.tensor_copy(dst=result, src=total)
    return result


def iterate(x, out, squares, steps):
    """out = x after `steps` iterations; squares: its sum of squares on every partition."""
    rows, cols = x.shape
    tall = rows > cols
    short, long = min(rows, cols), max(rows, cols)
    kept = nl.float32 if short * long <= WIDE else nl.bfloat16
    scale = sbuf((PARTITIONS, 1))
    nisa.activation(dst=scale, op=nl.sqrt, data=squares)
    nisa.tensor_scalar(dst=scale, data=scale, op0=nl.multiply, operand0=1.01, op1=nl.add, operand1=1e-6,
                       engine=nisa.engine.vector)
    nisa.reciprocal(dst=scale, data=scale)
    z = []
    for s in pieces(short, PARTITIONS):
        tile = sbuf((length(s), long), kept)
        for l in pieces(long, BANK):
            source = load_transposed(x[l, s]) if tall else load(x[s, l])
            nisa.tensor_scalar(dst=tile[:, l], data=source, op0=nl.multiply, operand0=scale[:length(s), :])
        z.append(tile)
    for a, b, c in STEPS[:steps]:
        z = one_step(z, a, b, c, kept)
    for i, s in enumerate(pieces(short, PARTITIONS)):
        for l in pieces(long, PARTITIONS) if tall else pieces(long, 4096):
            if tall:
                turned, result = psum((length(l), length(s)), kept), sbuf((length(l), length(s)))
                nisa.nc_transpose(dst=turned, data=z[i][:, l], engine=nisa.engine.tensor)
                nisa.tensor_copy(dst=result, src=turned)
                nisa.dma_copy(dst=out[l, s], src=result)
            else:
                result = sbuf((length(s), length(l)))
                nisa.tensor_copy(dst=result, src=z[i][:, l])
                nisa.dma_copy(dst=out[s, l], src=result)


def one_step(z, a, b, c, kept):
    """a z + (b A + c A A) z with A = z z^T; z is a list of [128 of the short side, long side]."""
    operand = z
    if kept == nl.float32:
        operand = [sbuf(tile.shape, nl.bfloat16) for tile in z]
        for tile, narrow in zip(z, operand):
            nisa.tensor_copy(dst=narrow, src=tile)
    short = sum([tile.shape[0] for tile in z])
    gram = gram_of(operand, short)
    narrow = [sbuf(tile.shape, nl.bfloat16) for tile in gram]
    for tile, one in zip(gram, narrow):
        nisa.tensor_copy(dst=one, src=tile)
    factor = []
    for s in pieces(short, PARTITIONS):
        both = sbuf((length(s), short), nl.bfloat16)
        for n in pieces(short, BANK):
            square, scaled = product(narrow, s, narrow, n), sbuf((length(s), length(n)))
            nisa.activation(dst=scaled, op=nl.copy, data=gram[s.start // PARTITIONS][:, n], scale=b)
            nisa.scalar_tensor_tensor(dst=both[:, n], data=square, op0=nl.multiply, operand0=c, op1=nl.add, operand1=scaled)
        factor.append(both)
    result = []
    for i, s in enumerate(pieces(short, PARTITIONS)):
        tile = sbuf(z[i].shape, kept)
        for n in pieces(z[i].shape[1], BANK):
            # The factor is symmetric, so its columns s serve as its rows.
            nisa.scalar_tensor_tensor(dst=tile[:, n], data=z[i][:, n], op0=nl.multiply, operand0=a, op1=nl.add,
                                      operand1=product(factor, s, operand, n))
        result.append(tile)
    return result


def product(left, m, right, n):
    """The sum over tiles of left[tile][:, m]^T right[tile][:, n], in PSUM."""
    total = psum((length(m), length(n)))
    for k in range(len(left)):
        nisa.nc_matmul(dst=total, stationary=left[k][:, m], moving=right[k][:, n], accumulate=k > 0)
    return total


def gram_of(operand, short):
    """z z^T as tiles [128, short] fp32. The contraction runs along the long side, so z is turned first, 128 columns at a
    time for all of the short side."""
    turned = []
    for l in pieces(operand[0].shape[1], PARTITIONS):
        bank, tile = psum((length(l), short), nl.bfloat16), sbuf((length(l), short), nl.bfloat16)
        for i, s in enumerate(pieces(short, PARTITIONS)):
            nisa.nc_transpose(dst=bank[:, s], data=operand[i][:, l], engine=nisa.engine.tensor)
        nisa.tensor_copy(dst=tile, src=bank)
        turned.append(tile)
    gram = []
    for s in pieces(short, PARTITIONS):
        tile = sbuf((length(s), short))
        for n in pieces(short, BANK):
            nisa.tensor_copy(dst=tile[:, n], src=product(turned, s, turned, n))
        gram.append(tile)
    return gram


def muon_reference(gradient, scale, numbers, weight, momentum, moment):
    import numpy as np
    rows, cols = weight.shape
    lr, mu, beta2, decay = (np.float32(t) for t in np.asarray(numbers)[0])
    g = gradient * np.asarray(scale)[0, 0]
    buf = momentum + (1 - mu) * (g - momentum)
    x = polar_express_reference(g + mu * (buf - g))
    axis = 1 if rows >= cols else 0
    sums = (x * x).sum(axis=axis, keepdims=True)
    second = moment + (1 - beta2) * (sums / x.shape[axis] - moment)
    scales = 1 / np.sqrt(np.maximum(np.float32(1e-10), second))
    scales = scales * np.sqrt(sums.sum()) / np.maximum(1e-10, np.sqrt((sums * scales**2).sum()))
    x = x * scales
    lr = lr * np.sqrt(np.float32(max(1.0, rows / cols)))
    shrink = np.where(x * weight >= 0, lr * decay * weight, 0)
    return (weight - shrink - lr * x).astype(np.float32), buf.astype(np.float32), second.astype(np.float32)


@nki.jit
def muon(gradient, scale, numbers, weight, momentum, moment):
    """scale [1, 1] multiplies the gradient; numbers [1, 4]: lr, momentum, beta2, weight decay. Gives weight, momentum and
    second moment."""
    rows, cols = weight.shape
    new_weight, new_momentum, new_moment = hbm(weight.shape), hbm(weight.shape), hbm(moment.shape)
    update, polar = (nl.ndarray(weight.shape, dtype=nl.float32, buffer=nl.private_hbm) for _ in range(2))
    given, factor = load_row(numbers, slice(0, 4)), load_row(scale, slice(0, 1))
    squares = sbuf((PARTITIONS, 1))
    for n, (here, columns) in enumerate(blocks(weight.shape)):
        x, buf = momentum_of(load(gradient[here, columns]), load(momentum[here, columns]), factor, given[:, 1:2])
        add_squares(squares, x, n == 0)
        nisa.dma_copy(dst=update[here, columns], src=x)
        nisa.dma_copy(dst=new_momentum[here, columns], src=buf)
    iterate(update, polar, total_on_all(squares), 5)
    scales = row_scales if rows >= cols else column_scales
    tiles = scales(polar, moment, new_moment, given[:, 2:3])
    lr = (max(1.0, rows / cols))**0.5
    for here, columns in blocks(weight.shape):
        by = tiles[here.start // PARTITIONS] if rows >= cols else tiles[:length(here), columns]
        nisa.dma_copy(dst=new_weight[here, columns],
                      src=updated(load(polar[here, columns]), by, load(weight[here, columns]), given, lr))
    return new_weight, new_momentum, new_moment


def momentum_of(gradient, buf, factor, mu):
    """x and the new buffer. With g the scaled gradient and d = buf - g: buf' = g + mu d, x = g + mu^2 d."""
    count = gradient.shape[0]
    g, d, x, new = (sbuf(gradient.shape) for _ in range(4))
    nisa.activation(dst=g, op=nl.copy, data=gradient, scale=factor[:count, :])
    nisa.tensor_tensor(dst=d, data1=buf, data2=g, op=nl.subtract, engine=nisa.engine.gpsimd)
    nisa.scalar_tensor_tensor(dst=new, data=d, op0=nl.multiply, operand0=mu[:count, :], op1=nl.add, operand1=g)
    nisa.tensor_tensor(dst=d, data1=new, data2=g, op=nl.subtract, engine=nisa.engine.gpsimd)
    nisa.scalar_tensor_tensor(dst=x, data=d, op0=nl.multiply, operand0=mu[:count, :], op1=nl.add, operand1=g)
    return x, new


def new_moments(sums, over, old, beta2):
    """The second moment after sums / over, and 1 / its root."""
    new, mean, scale = sbuf(sums.shape), sbuf(sums.shape), sbuf(sums.shape)
    nisa.tensor_scalar(dst=mean, data=sums, op0=nl.multiply, operand0=1.0 / over, engine=nisa.engine.vector)
    nisa.tensor_tensor(dst=new, data1=old, data2=mean, op=nl.subtract)
    nisa.scalar_tensor_tensor(dst=new, data=new, op0=nl.multiply, operand0=beta2[:sums.shape[0], :], op1=nl.add,
                              operand1=mean)
    nisa.tensor_scalar(dst=scale, data=new, op0=nl.maximum, operand0=1e-10, engine=nisa.engine.vector)
    nisa.activation(dst=scale, op=nl.rsqrt, data=scale)
    return new, scale


def norm_kept(sums, scale, total):
    """sqrt(sum of sums) / sqrt(sum of sums scale^2), as [128, 1]; total adds up a tile to [128, 1]."""
    after, keep, roots = sbuf(sums.shape), sbuf((PARTITIONS, 1)), sbuf((PARTITIONS, 2))
    nisa.tensor_tensor(dst=after, data1=sums, data2=scale, op=nl.multiply)
    nisa.tensor_tensor(dst=after, data1=after, data2=scale, op=nl.multiply)
    nisa.activation(dst=roots[:, 0:1], op=nl.sqrt, data=total(sums))
    nisa.activation(dst=roots[:, 1:2], op=nl.sqrt, data=total(after))
    nisa.tensor_scalar(dst=keep, data=roots[:, 1:2], op0=nl.maximum, operand0=1e-10, engine=nisa.engine.vector)
    nisa.reciprocal(dst=keep, data=keep)
    nisa.tensor_tensor(dst=keep, data1=keep, data2=roots[:, 0:1], op=nl.multiply)
    return keep


def row_scales(polar, moment, new_moment, beta2):
    """What every row is multiplied by, a tile [128, 1] for each 128 rows."""
    rows, cols = polar.shape
    parts = pieces(rows, PARTITIONS)
    sums, old = sbuf((PARTITIONS, len(parts))), sbuf((PARTITIONS, len(parts)))
    nisa.memset(dst=sums, value=0.0)
    nisa.memset(dst=old, value=1.0)
    for i, here in enumerate(parts):
        tile = load(polar[here, :])
        unread = sbuf(tile.shape, nl.bfloat16)
        nisa.activation_reduce(dst=unread, op=nl.square, data=tile, reduce_op=nl.add,
                               reduce_res=sums[:length(here), i:i + 1])
        nisa.dma_copy(dst=old[:length(here), i:i + 1], src=moment[here, :])
    new, scale = new_moments(sums, cols, old, beta2)
    keep = norm_kept(sums, scale, total_of_rows)
    nisa.tensor_scalar(dst=scale, data=scale, op0=nl.multiply, operand0=keep, engine=nisa.engine.vector)
    for i, here in enumerate(parts):
        nisa.dma_copy(dst=new_moment[here, :], src=new[:length(here), i:i + 1])
    return [scale[:length(here), i:i + 1] for i, here in enumerate(parts)]


def total_of_rows(tile):
    column = sbuf((PARTITIONS, 1))
    nisa.tensor_reduce(dst=column, op=nl.add, data=tile, axis=1)
    return total_on_all(column)


def column_scales(polar, moment, new_moment, beta2):
    """What every column is multiplied by, on all partitions: [128, cols]. Sums over rows are products with ones."""
    rows, cols = polar.shape
    sums = sbuf((PARTITIONS, cols))
    ones = sbuf((PARTITIONS, PARTITIONS))
    nisa.memset(dst=ones, value=1.0)
    for columns in pieces(cols, BANK):
        total = psum((PARTITIONS, length(columns)))
        for i, here in enumerate(pieces(rows, PARTITIONS)):
            tile = load(polar[here, columns])
            square = sbuf(tile.shape)
            nisa.activation(dst=square, op=nl.square, data=tile)
            nisa.nc_matmul(dst=total, stationary=ones[:length(here), :], moving=square, accumulate=i > 0)
        nisa.tensor_copy(dst=sums[:, columns], src=total)
    new, scale = new_moments(sums, rows, load_row(moment, slice(0, cols)), beta2)
    keep = norm_kept(sums, scale, total_of_columns)
    nisa.tensor_scalar(dst=scale, data=scale, op0=nl.multiply, operand0=keep, engine=nisa.engine.vector)
    nisa.dma_copy(dst=new_moment, src=new[0:1, :])
    return scale


def total_of_columns(tile):
    column = sbuf((PARTITIONS, 1))
    nisa.tensor_reduce(dst=column, op=nl.add, data=tile, axis=1)
    return column


def updated(x, by, weight, given, aspect):
    """weight - lr (u + decay weight where u weight >= 0), u = x times its scale."""
    count = x.shape[0]
    u, agree, shrink, step, new = (sbuf(x.shape) for _ in range(5))
    rate, decay = sbuf((count, 1)), sbuf((count, 1))
    nisa.tensor_scalar(dst=rate, data=given[:count, 0:1], op0=nl.multiply, operand0=-aspect, engine=nisa.engine.vector)
    nisa.tensor_tensor(dst=decay, data1=rate, data2=given[:count, 3:4], op=nl.multiply)
    if by.shape[1] == 1:
        nisa.activation(dst=u, op=nl.copy, data=x, scale=by)
    else:
        nisa.tensor_tensor(dst=u, data1=x, data2=by, op=nl.multiply, engine=nisa.engine.gpsimd)
    nisa.tensor_tensor(dst=agree, data1=u, data2=weight, op=nl.multiply, engine=nisa.engine.gpsimd)
    # -lr decay where they agree, else 0; times the weight.
    nisa.tensor_scalar(dst=agree, data=agree, op0=nl.greater_equal, operand0=0.0, op1=nl.multiply, operand1=decay,
                       engine=nisa.engine.vector)
    nisa.scalar_tensor_tensor(dst=shrink, data=agree, op0=nl.add, operand0=1.0, op1=nl.multiply, operand1=weight)
    nisa.activation(dst=step, op=nl.copy, data=u, scale=rate)
    nisa.tensor_tensor(dst=new, data1=shrink, data2=step, op=nl.add, engine=nisa.engine.gpsimd)
    return new
