"""One AdamW step over fp32 tensors, in place of four separate passes through HBM.

    m' = beta1 m + (1 - beta1) g           v' = beta2 v + (1 - beta2) g^2
    p' = p (1 - lr decay) - lr (m' / c1) / (sqrt(v' / c2) + eps),   c = 1 - beta^step

`adamw` has the numbers built in; `adamw_step` stands for the host op `adamw` and takes them as a tensor, so that a schedule
does not make a new program of every step.
"""
import nki
import nki.isa as nisa
import nki.language as nl

from pointwise import blocks
from tiles import hbm, length, load, load_row, sbuf

ROWS = 128
WIDTH = 2048  # elements of a partition in one tile: 8 KiB rows saturate the DMA engines


def adamw_reference(p, g, m, v, lr=1e-3, beta1=0.9, beta2=0.95, eps=1e-8, decay=0.1, step=10):
    import numpy as np
    m2 = beta1 * m + (1 - beta1) * g
    v2 = beta2 * v + (1 - beta2) * g * g
    update = (m2 / (1 - beta1**step)) / (np.sqrt(v2 / (1 - beta2**step)) + eps)
    return (p * (1 - lr * decay) - lr * update).astype(p.dtype), m2.astype(m.dtype), v2.astype(v.dtype)


@nki.jit
def adamw(p, g, m, v, lr=1e-3, beta1=0.9, beta2=0.95, eps=1e-8, decay=0.1, step=10):
    """p, g, m, v: [128, n] fp32. Gives the new p, m and v."""
    rows, n = p.shape
    assert rows == ROWS, f"p has {rows} rows; expected {ROWS}: reshape the flat tensor to [128, n]"
    new_p = nl.ndarray((rows, n), dtype=p.dtype, buffer=nl.shared_hbm)
    new_m = nl.ndarray((rows, n), dtype=m.dtype, buffer=nl.shared_hbm)
    new_v = nl.ndarray((rows, n), dtype=v.dtype, buffer=nl.shared_hbm)
    for start in range(0, n, WIDTH):
        columns = slice(start, min(start + WIDTH, n))
        shape = (rows, columns.stop - columns.start)
        tp, tg, tm, tv = (nl.ndarray(shape, dtype=t.dtype, buffer=nl.sbuf) for t in (p, g, m, v))
        for tile, source in ((tp, p), (tg, g), (tm, m), (tv, v)):
            nisa.dma_copy(dst=tile, src=source[:, columns])
        scaled = nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=scaled, data=tg, op0=nl.multiply, operand0=1 - beta1)
        nisa.scalar_tensor_tensor(dst=tm, data=tm, op0=nl.multiply, operand0=beta1, op1=nl.add, operand1=scaled)
        # (1 - beta2) g^2 on the Scalar engine, which is idle otherwise: square(g sqrt(1 - beta2)).
        squares = nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=squares, op=nl.square, data=tg, scale=(1 - beta2)**0.5)
        nisa.scalar_tensor_tensor(dst=tv, data=tv, op0=nl.multiply, operand0=beta2, op1=nl.add, operand1=squares)
        root = nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=root, op=nl.sqrt, data=tv, scale=1 / (1 - beta2**step))
        nisa.tensor_scalar(dst=root, data=root, op0=nl.add, operand0=eps)
        inverse = nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=inverse, data=root)
        update = nl.ndarray(shape, dtype=nl.float32, buffer=nl.sbuf)
        nisa.scalar_tensor_tensor(dst=update, data=tm, op0=nl.multiply, operand0=-lr / (1 - beta1**step),
                                  op1=nl.multiply, operand1=inverse)
        nisa.scalar_tensor_tensor(dst=tp, data=tp, op0=nl.multiply, operand0=1 - lr * decay, op1=nl.add,
                                  operand1=update)
        for tile, destination in ((tp, new_p), (tm, new_m), (tv, new_v)):
            nisa.dma_copy(dst=destination[:, columns], src=tile)
    return new_p, new_m, new_v


def coefficients(lr, beta1, beta2, eps, weight_decay, step):
    """What adamw_step takes for one step, [1, 8] fp32."""
    import numpy as np
    bias1, bias2 = 1 - beta1**step, 1 - beta2**step
    return np.array([[1 - beta1, (1 - beta2)**0.5, beta1, beta2, 1 / bias2, eps, -lr / bias1, 1 - lr * weight_decay]],
                    dtype=np.float32)


def adamw_step_reference(gradient, scale, numbers, p, m, v):
    import numpy as np
    take1, root_take2, beta1, beta2, unbias, eps, step, keep = np.asarray(numbers)[0]
    g = gradient * np.asarray(scale)[0, 0]
    m2 = beta1 * m + take1 * g
    v2 = beta2 * v + (root_take2 * g)**2
    return keep * p + step * m2 / (np.sqrt(v2 * unbias) + eps), m2, v2


@nki.jit
def adamw_step(gradient, scale, numbers, p, m, v):
    """gradient, p, m, v [rows, width]; scale [1, 1] multiplies the gradient; numbers as coefficients() gives them. The
    reciprocal takes Vector six times as long as any other pass, so Scalar and GpSimd do what they can of the rest."""
    outs = [hbm(p.shape) for _ in range(3)]
    given = load_row(numbers, slice(0, 8))
    factor = load_row(scale, slice(0, 1))
    nisa.tensor_scalar(dst=given[:, 0:2], data=given[:, 0:2], op0=nl.multiply, operand0=factor, engine=nisa.engine.vector)
    for rows, columns in blocks(p.shape):
        count = length(rows)
        take1, root_take2, beta1, beta2, unbias, eps, step, keep = (given[:count, i:i + 1] for i in range(8))
        tiles = [load(tensor[rows, columns]) for tensor in (gradient, p, m, v)]
        new = step_of(tiles, take1, root_take2, beta1, beta2, unbias, eps, step, keep)
        for out, tile in zip(outs, new):
            nisa.dma_copy(dst=out[rows, columns], src=tile)
    return outs[0], outs[1], outs[2]


def step_of(tiles, take1, root_take2, beta1, beta2, unbias, eps, step, keep):
    gradient, p, m, v = tiles
    new_m, new_v = (blended(old, beta, gradient, take, op)
                    for old, beta, take, op in ((m, beta1, take1, nl.copy), (v, beta2, root_take2, nl.square)))
    root, inverse, change = sbuf(p.shape), sbuf(p.shape), sbuf(p.shape)
    nisa.activation(dst=root, op=nl.sqrt, data=new_v, scale=unbias)
    nisa.tensor_scalar(dst=root, data=root, op0=nl.add, operand0=eps, engine=nisa.engine.vector)
    nisa.reciprocal(dst=inverse, data=root)
    nisa.scalar_tensor_tensor(dst=change, data=new_m, op0=nl.multiply, operand0=step, op1=nl.multiply, operand1=inverse)
    kept, new_p = sbuf(p.shape), sbuf(p.shape)
    nisa.activation(dst=kept, op=nl.copy, data=p, scale=keep)
    nisa.tensor_tensor(dst=new_p, data1=kept, data2=change, op=nl.add, engine=nisa.engine.gpsimd)
    return new_p, new_m, new_v


def blended(old, beta, gradient, take, op):
    """beta old + op(take gradient)."""
    kept, taken, new = sbuf(old.shape), sbuf(old.shape), sbuf(old.shape)
    nisa.activation(dst=kept, op=nl.copy, data=old, scale=beta)
    nisa.activation(dst=taken, op=op, data=gradient, scale=take)
    nisa.tensor_tensor(dst=new, data1=kept, data2=taken, op=nl.add, engine=nisa.engine.gpsimd)
    return new
