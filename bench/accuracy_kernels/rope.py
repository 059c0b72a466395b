"""Rotary position embedding of x [128, n] with cos, sin [64, n]: the two halves of the rows turn together.

    out[:64] = x[:64] cos - x[64:] sin,   out[64:] = x[64:] cos + x[:64] sin
"""
import nki
import nki.isa as nisa
import nki.language as nl

HALF = 64


@nki.jit
def rope_halves(x, cos, sin, width=2048):
    """Each half in tiles of 64 partitions: six Vector instructions on half of the lanes."""
    rows, n = x.shape
    out = nl.ndarray((rows, n), dtype=x.dtype, buffer=nl.shared_hbm)
    shape = (HALF, width)
    for i in nl.affine_range(n // width):
        columns = slice(i * width, (i + 1) * width)
        upper = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=upper, src=x[0:HALF, columns])
        lower = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=lower, src=x[HALF:rows, columns])
        c = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=c, src=cos[:, columns])
        s = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=s, src=sin[:, columns])
        upper_c = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=upper_c, data1=upper, data2=c, op=nl.multiply)
        lower_s = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=lower_s, data1=lower, data2=s, op=nl.multiply)
        first = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=first, data1=upper_c, data2=lower_s, op=nl.subtract)
        nisa.dma_copy(dst=out[0:HALF, columns], src=first)
        upper_s = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=upper_s, data1=upper, data2=s, op=nl.multiply)
        lower_c = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=lower_c, data1=lower, data2=c, op=nl.multiply)
        second = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=second, data1=lower_c, data2=upper_s, op=nl.add)
        nisa.dma_copy(dst=out[HALF:rows, columns], src=second)
    return out


@nki.jit
def rope_packed(x, cos, sin, width=2048):
    """All 128 partitions at once. The Scalar engine doubles cos and sin and swaps the halves of x."""
    rows, n = x.shape
    out = nl.ndarray((rows, n), dtype=x.dtype, buffer=nl.shared_hbm)
    shape = (rows, width)
    for i in nl.affine_range(n // width):
        columns = slice(i * width, (i + 1) * width)
        tile = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[:, columns])
        c = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=c[0:HALF], src=cos[:, columns])
        nisa.activation(dst=c[HALF:rows], op=nl.copy, data=c[0:HALF], scale=1.0)
        s = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=s[0:HALF], src=sin[:, columns])
        nisa.activation(dst=s[HALF:rows], op=nl.copy, data=s[0:HALF], scale=1.0)
        swapped = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.activation(dst=swapped[0:HALF], op=nl.copy, data=tile[HALF:rows], scale=-1.0)
        nisa.activation(dst=swapped[HALF:rows], op=nl.copy, data=tile[0:HALF], scale=1.0)
        even = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=even, data1=tile, data2=c, op=nl.multiply)
        odd = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=odd, data1=swapped, data2=s, op=nl.multiply)
        result = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=result, data1=even, data2=odd, op=nl.add)
        nisa.dma_copy(dst=out[:, columns], src=result)
    return out


@nki.jit
def rope_product(x, cos, sin, swap, width=512):
    """As rope_packed, but a product with swap [128, 128] = [[0, I], [-I, 0]] swaps the halves."""
    rows, n = x.shape
    out = nl.ndarray((rows, n), dtype=x.dtype, buffer=nl.shared_hbm)
    shape = (rows, width)
    swap_tile = nl.ndarray((rows, rows), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=swap_tile, src=swap)
    for i in nl.affine_range(n // width):
        columns = slice(i * width, (i + 1) * width)
        tile = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[:, columns])
        c = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=c[0:HALF], src=cos[:, columns])
        nisa.activation(dst=c[HALF:rows], op=nl.copy, data=c[0:HALF], scale=1.0)
        s = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=s[0:HALF], src=sin[:, columns])
        nisa.activation(dst=s[HALF:rows], op=nl.copy, data=s[0:HALF], scale=1.0)
        swapped = nl.ndarray(shape, dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=swapped, stationary=swap_tile, moving=tile)
        even = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=even, data1=tile, data2=c, op=nl.multiply)
        odd = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=odd, data1=swapped, data2=s, op=nl.multiply)
        result = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=result, data1=even, data2=odd, op=nl.add)
        nisa.dma_copy(dst=out[:, columns], src=result)
    return out


@nki.jit
def rope_copied(x, cos, sin, width=512):
    """One load of both halves; the lower half is copied up so that both operands of each product start at partition 0:
    the NKIBench baseline."""
    rows, n = x.shape
    out = nl.ndarray((rows, n), dtype=x.dtype, buffer=nl.shared_hbm)
    shape = (HALF, width)
    for i in nl.affine_range(n // width):
        columns = slice(i * width, (i + 1) * width)
        tile = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[:, columns])
        c = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=c, src=cos[:, columns])
        s = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=s, src=sin[:, columns])
        result = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.sbuf)
        lower = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=lower, src=tile[HALF:rows])
        upper_c = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=upper_c, data1=tile[0:HALF], data2=c, op=nl.multiply)
        lower_c = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=lower_c, data1=lower, data2=c, op=nl.multiply)
        upper_s = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=upper_s, data1=tile[0:HALF], data2=s, op=nl.multiply)
        lower_s = nl.ndarray(shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=lower_s, data1=lower, data2=s, op=nl.multiply)
        nisa.tensor_tensor(dst=result[0:HALF], data1=upper_c, data2=lower_s, op=nl.subtract)
        nisa.tensor_tensor(dst=result[HALF:rows], data1=lower_c, data2=upper_s, op=nl.add)
        nisa.dma_copy(dst=out[:, columns], src=result)
    return out
