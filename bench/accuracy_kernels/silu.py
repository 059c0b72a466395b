"""silu of a [128, slices, width] fp32 tensor, one activation a tile: the kernels of the silu study.

What varies is how much one transfer brings: a whole slice, several slices, or a part of one; whether the result lies in
a tile of its own; and whether the next tile is loaded by hand before this one is computed.
"""
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def silu_tiles(x, tiles=1, in_place=False):
    """x: [128, slices, width]. `tiles` tiles of width / tiles a slice."""
    rows, slices, width = x.shape
    flat = x.reshape((rows, slices * width))
    out = nl.ndarray((rows, slices * width), dtype=x.dtype, buffer=nl.shared_hbm)
    size = width // tiles
    for i in nl.affine_range(slices * tiles):
        columns = slice(i * size, (i + 1) * size)
        tile = nl.ndarray((rows, size), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=flat[:, columns])
        if in_place:
            nisa.activation(dst=tile, op=nl.silu, data=tile)
            nisa.dma_copy(dst=out[:, columns], src=tile)
        else:
            result = nl.ndarray((rows, size), dtype=x.dtype, buffer=nl.sbuf)
            nisa.activation(dst=result, op=nl.silu, data=tile)
            nisa.dma_copy(dst=out[:, columns], src=result)
    return out


@nki.jit
def silu_groups(x, group=2, in_place=False):
    """x: [128, slices, width]. Tiles of `group` slices, the last one of what remains."""
    rows, slices, width = x.shape
    flat = x.reshape((rows, slices * width))
    out = nl.ndarray((rows, slices * width), dtype=x.dtype, buffer=nl.shared_hbm)
    whole = slices // group
    for i in nl.affine_range(whole):
        columns = slice(i * group * width, (i + 1) * group * width)
        tile = nl.ndarray((rows, group * width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=flat[:, columns])
        if in_place:
            nisa.activation(dst=tile, op=nl.silu, data=tile)
            nisa.dma_copy(dst=out[:, columns], src=tile)
        else:
            result = nl.ndarray((rows, group * width), dtype=x.dtype, buffer=nl.sbuf)
            nisa.activation(dst=result, op=nl.silu, data=tile)
            nisa.dma_copy(dst=out[:, columns], src=result)
    if whole * group < slices:
        columns = slice(whole * group * width, slices * width)
        rest = nl.ndarray((rows, (slices - whole * group) * width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=rest, src=flat[:, columns])
        rest_result = nl.ndarray(rest.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.activation(dst=rest_result, op=nl.silu, data=rest)
        nisa.dma_copy(dst=out[:, columns], src=rest_result)
    return out


@nki.jit
def silu_two_buffers(x):
    """x: [128, slices, width]. Two tiles by turns; slice i + 1 is loaded before slice i is computed."""
    rows, slices, width = x.shape
    out = nl.ndarray((rows, slices, width), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = [nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.sbuf) for _ in range(2)]
    nisa.dma_copy(dst=tiles[0], src=x[:, 0])
    for i in nl.sequential_range(slices):
        if i + 1 < slices:
            nisa.dma_copy(dst=tiles[(i + 1) % 2], src=x[:, i + 1])
        result = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.sbuf)
        nisa.activation(dst=result, op=nl.silu, data=tiles[i % 2])
        nisa.dma_copy(dst=out[:, i], src=result)
    return out


@nki.jit
def silu_by_parts(x, width=1024, part=512):
    """x: [128, slices, n]. x / (1 + exp(-x)) in four instructions a part, `width` elements a transfer: the NKIBench
    baseline."""
    rows, slices, n = x.shape
    out = nl.ndarray((rows, slices, n), dtype=x.dtype, buffer=nl.shared_hbm)
    zero = nl.ndarray((rows, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=zero, value=0.0)
    for i in nl.affine_range(slices):
        for j in nl.affine_range(n // width):
            columns = slice(j * width, (j + 1) * width)
            tile = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[:, i, columns])
            result = nl.ndarray((rows, width), dtype=x.dtype, buffer=nl.sbuf)
            for k in nl.affine_range(width // part):
                piece = slice(k * part, (k + 1) * part)
                power = nl.ndarray((rows, part), dtype=nl.float32, buffer=nl.sbuf)
                nisa.activation(dst=power, op=nl.exp, data=tile[:, piece], bias=zero, scale=-1.0)
                below = nl.ndarray((rows, part), dtype=nl.float32, buffer=nl.sbuf)
                nisa.tensor_scalar(dst=below, data=power, op0=nl.add, operand0=1.0)
                inverse = nl.ndarray((rows, part), dtype=nl.float32, buffer=nl.sbuf)
                nisa.reciprocal(dst=inverse, data=below)
                nisa.tensor_tensor(dst=result[:, piece], data1=tile[:, piece], data2=inverse, op=nl.multiply)
            nisa.dma_copy(dst=out[:, i, columns], src=result)
    return out
