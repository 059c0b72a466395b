"""Tiled matrix product in four schedules, from the plainest to one that keeps the tensor engine busy.

All compute  out[M, N] = lhsT[K, M]^T @ rhs[K, N].  The first operand comes transposed because the tensor engine
contracts over partitions: both operands of a product have K on the partition axis.

Sizes must be multiples of the tiles: K and M of 128, N of 512; the blocked schedules say what more they need.
"""
import nki
import nki.isa as nisa
import nki.language as nl

TILE_K = 128  # partitions of both operands: rows of the systolic array
TILE_M = 128  # free size of the stationary operand: columns of the array
TILE_N = 512  # free size of the moving operand: one PSUM bank of fp32


def matmul_reference(lhsT, rhs):
    import numpy as np
    return (np.asarray(lhsT, dtype=np.float32).T @ np.asarray(rhs, dtype=np.float32)).astype(lhsT.dtype)


def check_sizes(lhsT, rhs, step_m=TILE_M, step_n=TILE_N, step_k=TILE_K):
    K, M = lhsT.shape
    K_rhs, N = rhs.shape
    assert K == K_rhs, f"lhsT contracts over {K} rows and rhs over {K_rhs}; both must be K"
    assert K % step_k == 0, f"K is {K}; expected a multiple of {step_k}"
    assert M % step_m == 0, f"M is {M}; expected a multiple of {step_m}"
    assert N % step_n == 0, f"N is {N}; expected a multiple of {step_n}"
    return K, M, N


def load(source, rows, columns):
    """A new SBUF tile with source[rows, columns]."""
    tile = nl.ndarray((rows.stop - rows.start, columns.stop - columns.start), dtype=source.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=source[rows, columns])
    return tile


def store(destination, rows, columns, psum):
    """destination[rows, columns] = psum, by way of SBUF: DMA does not reach PSUM."""
    tile = nl.ndarray(psum.shape, dtype=destination.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=tile, src=psum)
    nisa.dma_copy(dst=destination[rows, columns], src=tile)


def span(index, size):
    return slice(index * size, (index + 1) * size)


@nki.jit
def matmul_tiled(lhsT, rhs):
    """Schedule 1: each product loads both of its operands. Every byte of lhsT is loaded N/512 times and every byte of
    rhs M/128 times; the DMA queues, not the array, set the pace."""
    K, M, N = check_sizes(lhsT, rhs)
    out = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(M // TILE_M):
        for n in nl.affine_range(N // TILE_N):
            psum = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // TILE_K):
                stationary = load(lhsT, span(k, TILE_K), span(m, TILE_M))
                moving = load(rhs, span(k, TILE_K), span(n, TILE_N))
                nisa.nc_matmul(dst=psum, stationary=stationary, moving=moving)
            store(out, span(m, TILE_M), span(n, TILE_N), psum)
    return out


@nki.jit
def matmul_hoisted(lhsT, rhs):
    """Schedule 2: the stationary tiles of a row of output are loaded once and used for all N. lhsT is now read once;
    rhs still M/128 times."""
    K, M, N = check_sizes(lhsT, rhs)
    out = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(M // TILE_M):
        stationary = [load(lhsT, span(k, TILE_K), span(m, TILE_M)) for k in range(K // TILE_K)]
        for n in nl.affine_range(N // TILE_N):
            psum = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // TILE_K):
                moving = load(rhs, span(k, TILE_K), span(n, TILE_N))
                nisa.nc_matmul(dst=psum, stationary=stationary[k], moving=moving)
            store(out, span(m, TILE_M), span(n, TILE_N), psum)
    return out


@nki.jit
def matmul_blocked(lhsT, rhs, tiles_in_block_m=2, tiles_in_block_n=2):
    """Schedule 3: blocks of several tiles in M and N are held for the whole contraction, so each loaded tile serves a
    row or column of the block. One transfer brings a row of the block: longer rows, fewer transfers."""
    block_m, block_n = TILE_M * tiles_in_block_m, TILE_N * tiles_in_block_n
    K, M, N = check_sizes(lhsT, rhs, block_m, block_n)
    out = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(M // block_m):
        stationary = [load(lhsT, span(k, TILE_K), span(m, block_m)) for k in range(K // TILE_K)]
        for n in nl.affine_range(N // block_n):
            moving = [load(rhs, span(k, TILE_K), span(n, block_n)) for k in range(K // TILE_K)]
            for bm in nl.affine_range(tiles_in_block_m):
                for bn in nl.affine_range(tiles_in_block_n):
                    psum = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.psum)
                    for k in nl.affine_range(K // TILE_K):
                        nisa.nc_matmul(dst=psum, stationary=stationary[k][:, span(bm, TILE_M)],
                                       moving=moving[k][:, span(bn, TILE_N)])
                    store(out, span(m * tiles_in_block_m + bm, TILE_M), span(n * tiles_in_block_n + bn, TILE_N), psum)
    return out


@nki.jit
def matmul_blocked_k(lhsT, rhs, tiles_in_block_m=16, tiles_in_block_n=2, tiles_in_block_k=8):
    """Schedule 4: the contraction is blocked too. Partial sums of a wide block of output stay in SBUF while K goes by
    in pieces, so SBUF holds large M and N blocks whatever K is, and each operand is read from HBM a few times only."""
    block_m, block_n, block_k = TILE_M * tiles_in_block_m, TILE_N * tiles_in_block_n, TILE_K * tiles_in_block_k
    K, M, N = check_sizes(lhsT, rhs, block_m, block_n, block_k)
    out = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    for n in nl.affine_range(N // block_n):
        for m in nl.affine_range(M // block_m):
            sums = [nl.ndarray((TILE_M, block_n), dtype=nl.float32, buffer=nl.sbuf) for _ in range(tiles_in_block_m)]
            for k in nl.sequential_range(K // block_k):
                moving = [load(rhs, span(k * tiles_in_block_k + bk, TILE_K), span(n, block_n))
                          for bk in range(tiles_in_block_k)]
                stationary = [load(lhsT, span(k * tiles_in_block_k + bk, TILE_K), span(m, block_m))
                              for bk in range(tiles_in_block_k)]
                for bm in nl.affine_range(tiles_in_block_m):
                    for bn in nl.affine_range(tiles_in_block_n):
                        psum = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.psum)
                        for bk in nl.affine_range(tiles_in_block_k):
                            nisa.nc_matmul(dst=psum, stationary=stationary[bk][:, span(bm, TILE_M)],
                                           moving=moving[bk][:, span(bn, TILE_N)])
                        total = sums[bm][:, span(bn, TILE_N)]
                        if k == 0:
                            nisa.tensor_copy(dst=total, src=psum)
                        else:
                            nisa.tensor_tensor(dst=total, data1=total, data2=psum, op=nl.add)
            for bm in nl.affine_range(tiles_in_block_m):
                row = nl.ndarray((TILE_M, block_n), dtype=out.dtype, buffer=nl.sbuf)
                nisa.tensor_copy(dst=row, src=sums[bm])
                nisa.dma_copy(dst=out[span(m * tiles_in_block_m + bm, TILE_M), span(n, block_n)], src=row)
    return out
