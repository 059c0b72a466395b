"""out[M, N] = lhsT[K, M]^T @ rhs[K, N] in the four schedules of the vendor's optimisation guide, which shows a profile
of each. Unlike kernels/matmul.py, which teaches, these give the very instruction streams that were profiled."""
import nki
import nki.isa as nisa
import nki.language as nl

TILE_M, TILE_K, TILE_N = 128, 128, 512


def _at(index, size):
    return slice(index * size, (index + 1) * size)


@nki.jit
def load_each(lhsT, rhs):
    """Every product loads both its operands."""
    (K, M), N = lhsT.shape, rhs.shape[1]
    out = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(M // TILE_M):
        for n in nl.affine_range(N // TILE_N):
            total = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(K // TILE_K):
                stationary = nl.ndarray((TILE_K, TILE_M), dtype=lhsT.dtype, buffer=nl.sbuf)
                moving = nl.ndarray((TILE_K, TILE_N), dtype=rhs.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=stationary, src=lhsT[_at(k, TILE_K), _at(m, TILE_M)])
                nisa.dma_copy(dst=moving, src=rhs[_at(k, TILE_K), _at(n, TILE_N)])
                nisa.nc_matmul(dst=total, stationary=stationary, moving=moving)
            result = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=total)
            nisa.dma_copy(dst=out[_at(m, TILE_M), _at(n, TILE_N)], src=result)
    return out


@nki.jit
def load_columns(lhsT, rhs, block_m=1, block_n=1):
    """All K tiles of a block of columns of lhsT, then of rhs, then the products of the block."""
    (K, M), N = lhsT.shape, rhs.shape[1]
    out = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.shared_hbm)
    for m in nl.affine_range(M // (TILE_M * block_m)):
        stationary = []
        for bm in range(block_m):
            column = []
            for k in nl.affine_range(K // TILE_K):
                lhs_tile = nl.ndarray((TILE_K, TILE_M), dtype=lhsT.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=lhs_tile, src=lhsT[_at(k, TILE_K), _at(m * block_m + bm, TILE_M)])
                column.append(lhs_tile)
            stationary.append(column)
        for n in nl.affine_range(N // (TILE_N * block_n)):
            moving = []
            for bn in range(block_n):
                column = []
                for k in nl.affine_range(K // TILE_K):
                    rhs_tile = nl.ndarray((TILE_K, TILE_N), dtype=rhs.dtype, buffer=nl.sbuf)
                    nisa.dma_copy(dst=rhs_tile, src=rhs[_at(k, TILE_K), _at(n * block_n + bn, TILE_N)])
                    column.append(rhs_tile)
                moving.append(column)
            for bm in range(block_m):
                for bn in range(block_n):
                    total = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.psum)
                    for lhs_tile, rhs_tile in zip(stationary[bm], moving[bn]):
                        nisa.nc_matmul(dst=total, stationary=lhs_tile, moving=rhs_tile)
                    result = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.sbuf)
                    nisa.tensor_copy(dst=result, src=total)
                    nisa.dma_copy(dst=out[_at(m * block_m + bm, TILE_M), _at(n * block_n + bn, TILE_N)], src=result)
    return out


@nki.jit
def block_all(lhsT, rhs, block_m=16, block_n=2, block_k=8):
    """K in blocks too: the Vector engine adds each block's sums to a column of output that stays in SBUF."""
    (K, M), N = lhsT.shape, rhs.shape[1]
    wide_m, wide_n = TILE_M * block_m, TILE_N * block_n
    out = nl.ndarray((M, N), dtype=nl.float32, buffer=nl.shared_hbm)
    for n in nl.affine_range(N // wide_n):
        sums = []
        for m in range(M // TILE_M):
            row = []
            for bn in range(block_n):
                part = nl.ndarray((TILE_M, TILE_N), dtype=lhsT.dtype, buffer=nl.sbuf)
                nisa.memset(dst=part, value=0.0)
                row.append(part)
            sums.append(row)
        for k in nl.sequential_range(K // (TILE_K * block_k)):
            moving = []
            for bk in range(block_k):
                rhs_tile = nl.ndarray((TILE_K, wide_n), dtype=rhs.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=rhs_tile, src=rhs[_at(k * block_k + bk, TILE_K), _at(n, wide_n)])
                moving.append(rhs_tile)
            for m in nl.affine_range(M // wide_m):
                stationary = []
                for bk in range(block_k):
                    lhs_tile = nl.ndarray((TILE_K, wide_m), dtype=lhsT.dtype, buffer=nl.sbuf)
                    nisa.dma_copy(dst=lhs_tile, src=lhsT[_at(k * block_k + bk, TILE_K), _at(m, wide_m)])
                    stationary.append(lhs_tile)
                for bn in range(block_n):
                    for bm in range(block_m):
                        total = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.psum)
                        for lhs_tile, rhs_tile in zip(stationary, moving):
                            nisa.nc_matmul(dst=total, stationary=lhs_tile[:, _at(bm, TILE_M)],
                                           moving=rhs_tile[:, _at(bn, TILE_N)])
                        part = sums[m * block_m + bm][bn]
                        nisa.tensor_tensor(dst=part, data1=part, data2=total, op=nl.add)
        for m, row in enumerate(sums):
            packed = nl.ndarray((TILE_M, wide_n), dtype=nl.float32, buffer=nl.sbuf)
            for bn, part in enumerate(row):
                nisa.tensor_copy(dst=packed[:, _at(bn, TILE_N)], src=part)
            nisa.dma_copy(dst=out[_at(m, TILE_M), _at(n, wide_n)], src=packed)
    return out
