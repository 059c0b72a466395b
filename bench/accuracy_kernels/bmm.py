"""Batched products of a short contraction: out[b] = lhs[b] @ rhs[b], lhs [batches, M, 64], rhs [batches, 64, N], fp32.

lhs lies with M on the partitions, so the tensor engine first transposes it, tile by tile, against an identity matrix.
Tiles of four transposes share a PSUM bank and one copy: the study's counters show that its compiler makes them so. The
study varies when the transposes happen: before each row of products, or for many rows (or batches) at once.
"""
import nki
import nki.isa as nisa
import nki.language as nl

TILE = 128
BANK = 512  # fp32 of a PSUM bank
PER_COPY = 4  # transposed tiles of a bank


def _load_identity():
    constant = nl.shared_identity_matrix(TILE)
    identity = nl.ndarray((TILE, TILE), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=identity, src=constant)
    return identity


def _transpose_rows(dst, lhs, first_tile, count, identity):
    """dst [64, count * 128] = lhs [M, 64] rows of `count` tiles, transposed."""
    K = lhs.shape[1]
    for group in range(0, count, PER_COPY):
        tiles = min(PER_COPY, count - group)
        turned = nl.ndarray((K, tiles * TILE), dtype=nl.float32, buffer=nl.psum)
        loaded = []
        for t in range(tiles):
            row = (first_tile + group + t) * TILE
            tile = nl.ndarray((TILE, K), dtype=lhs.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=lhs[row:row + TILE])
            loaded.append(tile)
        for t in range(tiles):
            nisa.nc_matmul(dst=turned[:, t * TILE:(t + 1) * TILE], stationary=loaded[t], moving=identity,
                           is_transpose=True)
        nisa.tensor_copy(dst=dst[:, group * TILE:(group + tiles) * TILE], src=turned)


def _row_of_products(out, stationary, moving, row, width):
    """out[row tile] = stationary^T @ moving, stored `width` columns at a time."""
    N = moving.shape[1]
    for start in range(0, N, width):
        accumulators = []
        for column in range(start, start + width, BANK):
            accumulator = nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=accumulator, stationary=stationary, moving=moving[:, column:column + BANK])
            accumulators.append(accumulator)
        result = nl.ndarray((TILE, width), dtype=nl.float32, buffer=nl.sbuf)
        for j, accumulator in enumerate(accumulators):
            nisa.tensor_copy(dst=result[:, j * BANK:(j + 1) * BANK], src=accumulator)
        nisa.dma_copy(dst=out[row:row + TILE, start:start + width], src=result)


@nki.jit
def bmm_by_row(lhs, rhs, width=512, low_precision=False):
    """Each tile of rows is transposed just before its products. low_precision: products of bf16."""
    batches, M, K = lhs.shape
    N = rhs.shape[2]
    dtype = nl.bfloat16 if low_precision else nl.float32
    out = nl.ndarray((batches, M, N), dtype=nl.float32, buffer=nl.shared_hbm)
    identity = _load_identity()
    for b in nl.affine_range(batches):
        moving = nl.ndarray((K, N), dtype=dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=moving, src=rhs[b])
        for m in nl.affine_range(M // TILE):
            stationary = nl.ndarray((K, TILE), dtype=dtype, buffer=nl.sbuf)
            _transpose_rows(stationary, lhs[b], m, 1, identity)
            _row_of_products(out[b], stationary, moving, m * TILE, width)
    return out


@nki.jit
def bmm_two_phases(lhs, rhs, rows=32, batch_block=1, width=1024):
    """`rows` tiles of `batch_block` batches are transposed, then all their products follow."""
    batches, M, K = lhs.shape
    N = rhs.shape[2]
    out = nl.ndarray((batches, M, N), dtype=nl.float32, buffer=nl.shared_hbm)
    identity = _load_identity()
    for block in nl.affine_range(batches // batch_block):
        here = range(block * batch_block, (block + 1) * batch_block)
        moving = []
        for b in here:
            tile = nl.ndarray((K, N), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=rhs[b])
            moving.append(tile)
        for first in range(0, M // TILE, rows):
            stationary = []
            for b in here:
                pack = nl.ndarray((K, rows * TILE), dtype=nl.float32, buffer=nl.sbuf)
                _transpose_rows(pack, lhs[b], first, rows, identity)
                stationary.append(pack)
            for b, pack, tile in zip(here, stationary, moving):
                for m in nl.affine_range(rows):
                    _row_of_products(out[b], pack[:, m * TILE:(m + 1) * TILE], tile, (first + m) * TILE, width)
    return out


@nki.jit
def bmm_blocked(lhs, rhs, rows=8, columns=1024):
    """Blocks of `columns` columns outside, of `rows` tiles of rows inside; lhs is transposed anew for every block of
    columns: the NKIBench baseline."""
    batches, M, K = lhs.shape
    N = rhs.shape[2]
    out = nl.ndarray((batches, M, N), dtype=nl.float32, buffer=nl.shared_hbm)
    identity = _load_identity()
    for b in nl.affine_range(batches):
        for start in range(0, N, columns):
            moving = nl.ndarray((K, columns), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=moving, src=rhs[b, :, start:start + columns])
            for first in range(0, M // TILE, rows):
                pack = nl.ndarray((K, rows * TILE), dtype=nl.float32, buffer=nl.sbuf)
                _transpose_rows(pack, lhs[b], first, rows, identity)
                for m in nl.affine_range(rows):
                    _row_of_products(out[b, :, start:start + columns], pack[:, m * TILE:(m + 1) * TILE], moving,
                                     (first + m) * TILE, columns)
    return out
