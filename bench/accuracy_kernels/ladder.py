"""One bf16 product, out[M, N] = lhsT[K, M]^T @ rhs[K, N] of side 2048, up a ladder of schedules: 1024 products of
128 x 128 x 512 in each, and from 16 to 91 % of the array's rate."""
import nki
import nki.isa as nisa
import nki.language as nl

P, F = 128, 512


def _at(index, size):
    return slice(index * size, (index + 1) * size)


@nki.jit
def one_buffer_each(lhsT, rhs):
    """Rung 1: loads inside, one tile for each operand."""
    (K, M), N = lhsT.shape, rhs.shape[1]
    out = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    stationary = nl.ndarray((P, P), dtype=lhsT.dtype, buffer=nl.sbuf)
    moving = nl.ndarray((P, F), dtype=rhs.dtype, buffer=nl.sbuf)
    total = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.psum)
    result = nl.ndarray((P, F), dtype=lhsT.dtype, buffer=nl.sbuf)
    for m in range(M // P):
        for n in range(N // F):
            nisa.memset(dst=total, value=0.0)
            for k in range(K // P):
                nisa.dma_copy(dst=stationary, src=lhsT[_at(k, P), _at(m, P)])
                nisa.dma_copy(dst=moving, src=rhs[_at(k, P), _at(n, F)])
                nisa.nc_matmul(dst=total, stationary=stationary, moving=moving)
            nisa.tensor_copy(dst=result, src=total)
            nisa.dma_copy(dst=out[_at(m, P), _at(n, F)], src=result)
    return out


@nki.jit
def resident(lhsT, rhs, accumulators=1, skewed=False):
    """Rungs 2 and 4: both operands stay in SBUF. One tile of PSUM takes the rows by turns, or two; skewed: the copy of
    a row follows the products of the next."""
    (K, M), N = lhsT.shape, rhs.shape[1]
    out = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    stationary, moving = [], []
    for k in range(K // P):
        lhs_row = nl.ndarray((P, M), dtype=lhsT.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=lhs_row, src=lhsT[_at(k, P)])
        stationary.append(lhs_row)
    for k in range(K // P):
        rhs_row = nl.ndarray((P, N), dtype=rhs.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=rhs_row, src=rhs[_at(k, P)])
        moving.append(rhs_row)
    totals = [nl.ndarray((P, N), dtype=nl.float32, buffer=nl.psum) for _ in range(accumulators)]
    results = []
    rows = M // P
    delay = 1 if skewed else 0
    for m in range(rows + delay):
        if m < rows:
            total = totals[m % accumulators]
            nisa.memset(dst=total, value=0.0)
            for n in range(N // F):
                for k in range(K // P):
                    nisa.nc_matmul(dst=total[:, _at(n, F)], stationary=stationary[k][:, _at(m, P)],
                                   moving=moving[k][:, _at(n, F)])
        if m >= delay:
            result = nl.ndarray((P, N), dtype=lhsT.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=totals[(m - delay) % accumulators])
            results.append(result)
    for m, result in enumerate(results):
        nisa.dma_copy(dst=out[_at(m, P)], src=result)
    return out


@nki.jit
def two_stages(lhsT, rhs, k_block=8, m_block=4):
    """Rung 8: loads in blocks of K and M just ahead of their products; each half of K accumulates in PSUM and is added
    to sums in SBUF."""
    (K, M), N = lhsT.shape, rhs.shape[1]
    wide_k, wide_m = P * k_block, P * m_block
    out = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    sums = [[nl.ndarray((P, F), dtype=lhsT.dtype, buffer=nl.sbuf) for _ in range(M // P)] for _ in range(N // F)]
    for n in range(N // F):
        lhs_tiles = [[[nl.ndarray((P, wide_m), dtype=lhsT.dtype, buffer=nl.sbuf) for _ in range(k_block)]
                      for _ in range(M // wide_m)] for _ in range(K // wide_k)]
        rhs_tiles = [[nl.ndarray((P, F), dtype=rhs.dtype, buffer=nl.sbuf) for _ in range(k_block)]
                     for _ in range(K // wide_k)]
        for part in sums[n]:
            nisa.memset(dst=part, value=0.0)
        for kb in range(K // wide_k):
            for k, tile in enumerate(rhs_tiles[kb]):
                nisa.dma_copy(dst=tile, src=rhs[_at(kb * k_block + k, P), _at(n, F)])
            for mb in range(M // wide_m):
                for k, tile in enumerate(lhs_tiles[kb][mb]):
                    nisa.dma_copy(dst=tile, src=lhsT[_at(kb * k_block + k, P), _at(mb, wide_m)])
                for m in range(m_block):
                    total = nl.ndarray((P, F), dtype=nl.float32, buffer=nl.psum)
                    copied = nl.ndarray((P, F), dtype=lhsT.dtype, buffer=nl.sbuf)
                    nisa.memset(dst=total, value=0.0)
                    for lhs_tile, rhs_tile in zip(lhs_tiles[kb][mb], rhs_tiles[kb]):
                        nisa.nc_matmul(dst=total, stationary=lhs_tile[:, _at(m, P)], moving=rhs_tile)
                    nisa.tensor_copy(dst=copied, src=total)
                    part = sums[n][mb * m_block + m]
                    nisa.tensor_tensor(dst=part, data1=part, data2=copied, op=nl.add)
        for m, part in enumerate(sums[n]):
            nisa.dma_copy(dst=out[_at(m, P), _at(n, F)], src=part)
    return out
