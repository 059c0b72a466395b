"""One AdamW step over flat fp32 tensors, in place of four separate passes through HBM.

    m' = beta1 m + (1 - beta1) g           v' = beta2 v + (1 - beta2) g^2
    p' = p (1 - lr decay) - lr (m' / c1) / (sqrt(v' / c2) + eps),   c = 1 - beta^step
"""
import nki
import nki.isa as nisa
import nki.language as nl

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
