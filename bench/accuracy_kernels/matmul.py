"""out = lhs @ rhs, lhs [m tiles, 128, k tiles, 128] with M on the partitions, rhs [k tiles, 128, N], fp32.

The tensor engine transposes lhs against an identity matrix, four tiles of K to a PSUM bank and a copy. `block` rows of
tiles share each loaded tile of rhs; the study varies it.
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


def _load_and_transpose(row, first, identity):
    """Four k tiles of row [128, k tiles, 128], side by side and transposed, in PSUM."""
    loaded = nl.ndarray((TILE, PER_COPY, TILE), dtype=row.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=loaded, src=row[:, first:first + PER_COPY])
    turned = nl.ndarray((TILE, PER_COPY * TILE), dtype=nl.float32, buffer=nl.psum)
    for t in range(PER_COPY):
        nisa.nc_matmul(dst=turned[:, t * TILE:(t + 1) * TILE], stationary=loaded[:, t], moving=identity,
                       is_transpose=True)
    return turned


def _tile_of(packs, k):
    t = k % PER_COPY
    return packs[k // PER_COPY][:, t * TILE:(t + 1) * TILE]


@nki.jit
def matmul_rows(lhs, rhs, block=4):
    """A chunk of 512 columns accumulates over all of K for `block` rows of tiles at once."""
    m_tiles, _, k_tiles, _ = lhs.shape
    N = rhs.shape[2]
    out = nl.ndarray((m_tiles, TILE, N), dtype=nl.float32, buffer=nl.shared_hbm)
    identity = _load_identity()
    for first in range(0, m_tiles, block):
        rows = []
        for m in range(first, first + block):
            packs = []
            for k in range(0, k_tiles, PER_COPY):
                turned = _load_and_transpose(lhs[m], k, identity)
                pack = nl.ndarray((TILE, PER_COPY * TILE), dtype=nl.float32, buffer=nl.sbuf)
                nisa.tensor_copy(dst=pack, src=turned)
                packs.append(pack)
            rows.append(packs)
        for start in range(0, N, BANK):
            columns = slice(start, start + BANK)
            sums = [nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.psum) for _ in range(block)]
            for k in nl.affine_range(k_tiles):
                moving = nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.sbuf)
                nisa.dma_copy(dst=moving, src=rhs[k, :, columns])
                for packs, total in zip(rows, sums):
                    nisa.nc_matmul(dst=total, stationary=_tile_of(packs, k), moving=moving)
            for m, total in enumerate(sums):
                result = nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.sbuf)
                nisa.tensor_copy(dst=result, src=total)
                nisa.dma_copy(dst=out[first + m, :, columns], src=result)
    return out


def _split(value, high, low):
    """value = high + low, both bf16."""
    nisa.tensor_copy(dst=high, src=value)
    nisa.tensor_tensor(dst=low, data1=value, data2=high, op=nl.subtract)


@nki.jit
def matmul_rows_split(lhs, rhs, block=4):
    """As matmul_rows with each fp32 operand as the sum of two bf16: three products in place of one of fp32."""
    m_tiles, _, k_tiles, _ = lhs.shape
    N = rhs.shape[2]
    out = nl.ndarray((m_tiles, TILE, N), dtype=nl.float32, buffer=nl.shared_hbm)
    identity = _load_identity()
    wide = (TILE, PER_COPY * TILE)
    for first in range(0, m_tiles, block):
        high_rows, low_rows = [], []
        for m in range(first, first + block):
            highs, lows = [], []
            for k in range(0, k_tiles, PER_COPY):
                turned = _load_and_transpose(lhs[m], k, identity)
                value = nl.ndarray(wide, dtype=nl.float32, buffer=nl.sbuf)
                nisa.tensor_copy(dst=value, src=turned)
                high = nl.ndarray(wide, dtype=nl.bfloat16, buffer=nl.sbuf)
                low = nl.ndarray(wide, dtype=nl.bfloat16, buffer=nl.sbuf)
                _split(value, high, low)
                highs.append(high)
                lows.append(low)
            high_rows.append(highs)
            low_rows.append(lows)
        for start in range(0, N, BANK):
            columns = slice(start, start + BANK)
            sums = [nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.psum) for _ in range(block)]
            for k in nl.affine_range(k_tiles):
                value = nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.sbuf)
                nisa.dma_copy(dst=value, src=rhs[k, :, columns])
                high = nl.ndarray((TILE, BANK), dtype=nl.bfloat16, buffer=nl.sbuf)
                low = nl.ndarray((TILE, BANK), dtype=nl.bfloat16, buffer=nl.sbuf)
                _split(value, high, low)
                for highs, lows, total in zip(high_rows, low_rows, sums):
                    nisa.nc_matmul(dst=total, stationary=_tile_of(highs, k), moving=high)
                    nisa.nc_matmul(dst=total, stationary=_tile_of(highs, k), moving=low)
                    nisa.nc_matmul(dst=total, stationary=_tile_of(lows, k), moving=high)
            for m, total in enumerate(sums):
                result = nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.sbuf)
                nisa.tensor_copy(dst=result, src=total)
                nisa.dma_copy(dst=out[first + m, :, columns], src=result)
    return out


@nki.jit
def matmul_columns(lhs, rhs, width=1024, k_block=8):
    """Blocks of `width` columns outside: rhs is read once, lhs for every block: the NKIBench baseline."""
    m_tiles, _, k_tiles, _ = lhs.shape
    N = rhs.shape[2]
    out = nl.ndarray((m_tiles, TILE, N), dtype=nl.float32, buffer=nl.shared_hbm)
    identity = _load_identity()
    for start in range(0, N, width):
        moving = []
        for k in nl.affine_range(k_tiles):
            tile = nl.ndarray((TILE, width), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=rhs[k, :, start:start + width])
            moving.append(tile)
        for m in nl.affine_range(m_tiles):
            packs = []
            for first in range(0, k_tiles, k_block):
                loaded = nl.ndarray((TILE, k_block, TILE), dtype=nl.float32, buffer=nl.sbuf)
                nisa.dma_copy(dst=loaded, src=lhs[m, :, first:first + k_block])
                for group in range(0, k_block, PER_COPY):
                    turned = nl.ndarray((TILE, PER_COPY * TILE), dtype=nl.float32, buffer=nl.psum)
                    for t in range(PER_COPY):
                        nisa.nc_matmul(dst=turned[:, t * TILE:(t + 1) * TILE], stationary=loaded[:, group + t],
                                       moving=identity, is_transpose=True)
                    pack = nl.ndarray((TILE, PER_COPY * TILE), dtype=nl.float32, buffer=nl.sbuf)
                    nisa.tensor_copy(dst=pack, src=turned)
                    packs.append(pack)
            result = nl.ndarray((TILE, width), dtype=nl.float32, buffer=nl.sbuf)
            for column in range(0, width, BANK):
                total = nl.ndarray((TILE, BANK), dtype=nl.float32, buffer=nl.psum)
                for k in nl.affine_range(k_tiles):
                    nisa.nc_matmul(dst=total, stationary=_tile_of(packs, k), moving=moving[k][:, column:column + BANK])
                nisa.tensor_copy(dst=result[:, column:column + BANK], src=total)
            nisa.dma_copy(dst=out[m, :, start:start + width], src=result)
    return out
