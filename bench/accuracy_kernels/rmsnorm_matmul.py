"""out = rms_norm(x) @ w, x [m tiles, 128, K] with rows on the partitions, w [k tiles, 128, N], fp32.

The norm's factor goes over x before the product or over the output after it; w stays in SBUF. Transposes of x by the
tensor engine share PSUM banks and copies by four.
"""
import nki
import nki.isa as nisa
import nki.language as nl

TILE = 128
BANK = 512
PER_COPY = 4


def _load_identity():
    constant = nl.shared_identity_matrix(TILE)
    identity = nl.ndarray((TILE, TILE), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=identity, src=constant)
    return identity


def _zeros():
    zero = nl.ndarray((TILE, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=zero, value=0.0)
    return zero


def _inverse_rms(x, zero):
    """[128, 1]: 1 / sqrt(mean of squares of a row)."""
    squares = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=squares, op=nl.square, data=x, bias=zero, scale=1.0)
    total = nl.ndarray((TILE, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=squares, axis=1)
    factor = nl.ndarray((TILE, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=factor, op=nl.rsqrt, data=total, bias=zero, scale=1.0 / x.shape[1])
    return factor


def _transposed(x, identity, dtype=nl.float32):
    """x [128, K] as tiles [128 of K, 4 * 128], each of four transposes."""
    packs = []
    for first in range(0, x.shape[1] // TILE, PER_COPY):
        turned = nl.ndarray((TILE, PER_COPY * TILE), dtype=nl.float32, buffer=nl.psum)
        for t in range(PER_COPY):
            k = first + t
            nisa.nc_matmul(dst=turned[:, t * TILE:(t + 1) * TILE], stationary=x[:, k * TILE:(k + 1) * TILE],
                           moving=identity, is_transpose=True)
        pack = nl.ndarray((TILE, PER_COPY * TILE), dtype=dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=pack, src=turned)
        packs.append(pack)
    return packs


def _tile_of(packs, k):
    t = k % PER_COPY
    return packs[k // PER_COPY][:, t * TILE:(t + 1) * TILE]


def _load_weights(w, dtype=nl.float32):
    k_tiles, _, N = w.shape
    weights = []
    for k in nl.affine_range(k_tiles):
        tile = nl.ndarray((TILE, N), dtype=dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=w[k])
        weights.append(tile)
    return weights


def _products(out, m, packs, weights, factor):
    """A row of output, chunk by chunk; factor None: as it is."""
    for start in range(0, weights[0].shape[1], BANK):
        columns = slice(start, start + BANK)
        total = nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.psum)
        for k, moving in enumerate(weights):
            nisa.nc_matmul(dst=total, stationary=_tile_of(packs, k), moving=moving[:, columns])
        result = nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.sbuf)
        if factor is None:
            nisa.tensor_copy(dst=result, src=total)
        else:
            nisa.tensor_scalar(dst=result, data=total, op0=nl.multiply, operand0=factor)
        nisa.dma_copy(dst=out[m, :, columns], src=result)


@nki.jit
def rmsnorm_matmul(x, w, factor_first=False, low_precision=False):
    """factor_first: over x. low_precision: products of bf16."""
    m_tiles, _, K = x.shape
    dtype = nl.bfloat16 if low_precision else nl.float32
    out = nl.ndarray((m_tiles, TILE, w.shape[2]), dtype=nl.float32, buffer=nl.shared_hbm)
    zero = _zeros()
    identity = _load_identity()
    weights = _load_weights(w, dtype)
    for m in nl.affine_range(m_tiles):
        tile = nl.ndarray((TILE, K), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[m])
        factor = _inverse_rms(tile, zero)
        if factor_first:
            scaled = nl.ndarray((TILE, K), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=scaled, data=tile, op0=nl.multiply, operand0=factor)
            _products(out, m, _transposed(scaled, identity), weights, None)
        else:
            _products(out, m, _transposed(tile, identity, dtype), weights, factor)
    return out


@nki.jit
def rmsnorm_matmul_keep_stationary(x, w):
    """K outside, the chunks of columns inside: each stationary tile serves all chunks before the next one."""
    m_tiles, _, K = x.shape
    N = w.shape[2]
    out = nl.ndarray((m_tiles, TILE, N), dtype=nl.float32, buffer=nl.shared_hbm)
    zero = _zeros()
    identity = _load_identity()
    weights = _load_weights(w)
    for m in nl.affine_range(m_tiles):
        tile = nl.ndarray((TILE, K), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[m])
        factor = _inverse_rms(tile, zero)
        packs = _transposed(tile, identity)
        sums = [nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.psum) for _ in range(N // BANK)]
        for k, moving in enumerate(weights):
            for c, total in enumerate(sums):
                nisa.nc_matmul(dst=total, stationary=_tile_of(packs, k), moving=moving[:, c * BANK:(c + 1) * BANK])
        for c, total in enumerate(sums):
            result = nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=result, data=total, op0=nl.multiply, operand0=factor)
            nisa.dma_copy(dst=out[m, :, c * BANK:(c + 1) * BANK], src=result)
    return out


@nki.jit
def rmsnorm_matmul_load_again(x, w):
    """The transposes read tiles of x loaded for them alone."""
    m_tiles, _, K = x.shape
    out = nl.ndarray((m_tiles, TILE, w.shape[2]), dtype=nl.float32, buffer=nl.shared_hbm)
    zero = _zeros()
    identity = _load_identity()
    weights = _load_weights(w)
    for m in nl.affine_range(m_tiles):
        tile = nl.ndarray((TILE, K), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[m])
        factor = _inverse_rms(tile, zero)
        packs = []
        for first in range(0, K, PER_COPY * TILE):
            again = nl.ndarray((TILE, PER_COPY * TILE), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=again, src=x[m, :, first:first + PER_COPY * TILE])
            packs += _transposed(again, identity)
        _products(out, m, packs, weights, factor)
    return out


@nki.jit
def rmsnorm_matmul_vector_transpose(x, w, blocks=4):
    """The Vector engine transposes x, 32 x 32 at a time."""
    m_tiles, _, K = x.shape
    side = TILE // blocks
    out = nl.ndarray((m_tiles, TILE, w.shape[2]), dtype=nl.float32, buffer=nl.shared_hbm)
    zero = _zeros()
    weights = _load_weights(w)
    for m in nl.affine_range(m_tiles):
        tile = nl.ndarray((TILE, K), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[m])
        factor = _inverse_rms(tile, zero)
        packs = []
        for first in range(0, K, PER_COPY * TILE):
            pack = nl.ndarray((TILE, PER_COPY * TILE), dtype=nl.float32, buffer=nl.sbuf)
            for t in range(PER_COPY):
                for i in range(blocks):
                    for j in range(blocks):
                        row, column = j * side, t * TILE + i * side
                        source = first + t * TILE + j * side
                        nisa.nc_transpose(dst=pack[row:row + side, column:column + side],
                                          data=tile[i * side:(i + 1) * side, source:source + side],
                                          engine=nisa.engine.vector)
            packs.append(pack)
        _products(out, m, packs, weights, factor)
    return out


@nki.jit
def rmsnorm_matmul_split(x, w):
    """Each fp32 operand as the sum of two bf16: three products in place of one of fp32."""
    m_tiles, _, K = x.shape
    k_tiles, _, N = w.shape
    out = nl.ndarray((m_tiles, TILE, N), dtype=nl.float32, buffer=nl.shared_hbm)
    zero = _zeros()
    identity = _load_identity()
    w_high, w_low = [], []
    for k in nl.affine_range(k_tiles):
        value = nl.ndarray((TILE, N), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=value, src=w[k])
        high = nl.ndarray((TILE, N), dtype=nl.bfloat16, buffer=nl.sbuf)
        rest = nl.ndarray((TILE, N), dtype=nl.float32, buffer=nl.sbuf)
        low = nl.ndarray((TILE, N), dtype=nl.bfloat16, buffer=nl.sbuf)
        _split(value, high, rest, low)
        w_high.append(high)
        w_low.append(low)
    for m in nl.affine_range(m_tiles):
        tile = nl.ndarray((TILE, K), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[m])
        factor = _inverse_rms(tile, zero)
        x_high, x_low = [], []
        for value in _transposed(tile, identity):
            high = nl.ndarray(value.shape, dtype=nl.bfloat16, buffer=nl.sbuf)
            rest = nl.ndarray(value.shape, dtype=nl.float32, buffer=nl.sbuf)
            low = nl.ndarray(value.shape, dtype=nl.bfloat16, buffer=nl.sbuf)
            _split(value, high, rest, low)
            x_high.append(high)
            x_low.append(low)
        for start in range(0, N, BANK):
            columns = slice(start, start + BANK)
            total = nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(k_tiles):
                nisa.nc_matmul(dst=total, stationary=_tile_of(x_high, k), moving=w_high[k][:, columns])
                nisa.nc_matmul(dst=total, stationary=_tile_of(x_high, k), moving=w_low[k][:, columns])
                nisa.nc_matmul(dst=total, stationary=_tile_of(x_low, k), moving=w_high[k][:, columns])
            result = nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=result, data=total, op0=nl.multiply, operand0=factor)
            nisa.dma_copy(dst=out[m, :, columns], src=result)
    return out


def _split(value, high, rest, low):
    nisa.tensor_copy(dst=high, src=value)
    nisa.tensor_tensor(dst=rest, data1=value, data2=high, op=nl.subtract)
    nisa.tensor_copy(dst=low, src=rest)


@nki.jit
def rmsnorm_matmul_by_parts(x, w, m_block=8, width=1024, part=512):
    """Eight rows of tiles are normalised and transposed, then multiplied block of columns by block of columns; the
    norm works in parts of 512 and x is loaded twice: the NKIBench baseline."""
    m_tiles, _, K = x.shape
    k_tiles, _, N = w.shape
    out = nl.ndarray((m_tiles, TILE, N), dtype=nl.float32, buffer=nl.shared_hbm)
    zero = _zeros()
    identity = _load_identity()
    for first in range(0, m_tiles, m_block):
        rows = []
        for m in range(first, first + m_block):
            tile = nl.ndarray((TILE, K), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=x[m])
            factor = _inverse_rms_by_parts(tile, zero, part)
            again = nl.ndarray((TILE, K), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=again, src=x[m])
            packs = []
            for start in range(0, K, part):
                scaled = nl.ndarray((TILE, part), dtype=nl.float32, buffer=nl.sbuf)
                nisa.tensor_scalar(dst=scaled, data=again[:, start:start + part], op0=nl.multiply, operand0=factor)
                packs += _transposed(scaled, identity)
            rows.append(packs)
        for block in range(0, N, width):
            weights = []
            for k in nl.affine_range(k_tiles):
                moving = nl.ndarray((TILE, width), dtype=nl.float32, buffer=nl.sbuf)
                nisa.dma_copy(dst=moving, src=w[k, :, block:block + width])
                weights.append(moving)
            for m, packs in enumerate(rows):
                result = nl.ndarray((TILE, width), dtype=nl.float32, buffer=nl.sbuf)
                for start in range(0, width, BANK):
                    total = nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.psum)
                    for k, moving in enumerate(weights):
                        nisa.nc_matmul(dst=total, stationary=_tile_of(packs, k), moving=moving[:, start:start + BANK])
                    nisa.tensor_copy(dst=result[:, start:start + BANK], src=total)
                nisa.dma_copy(dst=out[first + m, :, block:block + width], src=result)
    return out


def _inverse_rms_by_parts(x, zero, part):
    K = x.shape[1]
    total = nl.ndarray((TILE, 1), dtype=nl.float32, buffer=nl.sbuf)
    for start in range(0, K, part):
        squares = nl.ndarray((TILE, part), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=squares, op=nl.square, data=x[:, start:start + part], bias=zero, scale=1.0)
        scaled = nl.ndarray((TILE, part), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=scaled, data=squares, op0=nl.multiply, operand0=1.0 / K)
        share = nl.ndarray((TILE, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=share, op=nl.add, data=scaled, axis=1)
        if start == 0:
            nisa.tensor_copy(dst=total, src=share)
        else:
            nisa.tensor_tensor(dst=total, data1=total, data2=share, op=nl.add)
    factor = nl.ndarray((TILE, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=factor, op=nl.rsqrt, data=total, bias=zero, scale=1.0)
    return factor
