"""Softmax over the last axis: out[r, :] = exp(x[r, :] - max) / sum.  Rows lie on partitions, 128 at a time."""
import nki
import nki.isa as nisa
import nki.language as nl

ROWS = 128


def softmax_reference(x):
    import numpy as np
    wide = np.asarray(x, dtype=np.float32)
    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
    return (powers / powers.sum(axis=1, keepdims=True)).astype(x.dtype)


@nki.jit
def softmax(x):
    """x: [rows, width], rows a multiple of 128. The maximum goes into the exponential's bias and the sum comes out of
    the same activation, so Vector and Scalar make one pass each before the final scaling."""
    rows, width = x.shape
    assert rows % ROWS == 0, f"x has {rows} rows; expected a multiple of {ROWS}"
    out = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.shared_hbm)
    for r in nl.affine_range(rows // ROWS):
        here = slice(r * ROWS, (r + 1) * ROWS)
        tile = nl.ndarray((ROWS, width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[here, :])
        negative_max = nl.ndarray((ROWS, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=negative_max, op=nl.maximum, data=tile, axis=1, negate=True)
        powers = nl.ndarray((ROWS, width), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((ROWS, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(dst=powers, op=nl.exp, data=tile, bias=negative_max, reduce_op=nl.add, reduce_res=total)
        share = nl.ndarray((ROWS, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=share, data=total)
        result = nl.ndarray((ROWS, width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=result, data=powers, op0=nl.multiply, operand0=share)
        nisa.dma_copy(dst=out[here, :], src=result)
    return out
