"""Causal attention forward without the [T, T] matrix in HBM (flash attention), one head after another.

Operands come with the head dimension on partitions, as the tensor engine wants them:
    qT, kT: [heads, d, T]     v: [heads, T, d]     out: [heads, T, d]      d at most 128, T a multiple of 512
For each 128 queries, keys pass by in blocks of 512. The running maximum m, sum l and output are rescaled by
exp(m_old - m_new) whenever a block raises the maximum.
"""
import nki
import nki.isa as nisa
import nki.language as nl

QUERIES = 128
KEYS = 512
CHUNK = 128  # keys that one product with v contracts over
LOWEST = -3.0e38


def attention_reference(qT, kT, v, scale=None):
    import numpy as np
    q, k, values = (np.asarray(t, dtype=np.float32) for t in (qT, kT, v))
    heads, d, T = q.shape
    scale = d**-0.5 if scale is None else scale
    scores = np.einsum("hdq,hdk->hqk", q, k) * scale
    scores = np.where(np.tril(np.ones((T, T), dtype=bool)), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True) @ values).astype(v.dtype)


def sbuf(shape, dtype):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf)


def psum(shape, dtype=nl.float32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.psum)


def masked_scores(scores, first_query, first_key):
    """Scores of a block that the diagonal crosses, in SBUF: keys after the query become the lowest number."""
    copied = sbuf((QUERIES, KEYS), nl.float32)
    nisa.tensor_copy(dst=copied, src=scores)
    masked = sbuf((QUERIES, KEYS), nl.float32)
    # Keeps where (first_query + partition) - (first_key + column) >= 0.
    nisa.affine_select(dst=masked, pattern=[[-1, KEYS]], offset=first_query - first_key, channel_multiplier=1,
                       on_true_tile=copied, on_false_value=LOWEST, cmp_op=nl.greater_equal)
    return masked


def transposed(powers):
    """powers[queries, KEYS] as KEYS / CHUNK tiles of [CHUNK, queries]."""
    tiles = []
    for c in range(KEYS // CHUNK):
        turned = psum((CHUNK, QUERIES), powers.dtype)
        nisa.nc_transpose(dst=turned, data=powers[:, c * CHUNK:(c + 1) * CHUNK])
        tile = sbuf((CHUNK, QUERIES), powers.dtype)
        nisa.tensor_copy(dst=tile, src=turned)
        tiles.append(tile)
    return tiles


@nki.jit
def attention(qT, kT, v, scale=None):
    heads, d, T = qT.shape
    assert d <= 128, f"the head dimension is {d}; at most 128 fit the partitions"
    assert T % KEYS == 0, f"T is {T}; expected a multiple of {KEYS}"
    scale = d**-0.5 if scale is None else scale
    out = nl.ndarray((heads, T, d), dtype=v.dtype, buffer=nl.shared_hbm)
    for h in nl.affine_range(heads):
        keys = sbuf((d, T), kT.dtype)
        nisa.dma_copy(dst=keys, src=kT[h])
        values = []
        for c in range(T // CHUNK):
            tile = sbuf((CHUNK, d), v.dtype)
            nisa.dma_copy(dst=tile, src=v[h, c * CHUNK:(c + 1) * CHUNK, :])
            values.append(tile)
        for first_query in range(0, T, QUERIES):
            attend(out, qT, keys, values, h, first_query, scale)
    return out


def attend(out, qT, keys, values, h, first_query, scale):
    """Output rows first_query … first_query + 127 of head h."""
    d = qT.shape[1]
    here = slice(first_query, first_query + QUERIES)
    query = sbuf((d, QUERIES), qT.dtype)
    nisa.dma_copy(dst=query, src=qT[h, :, here])
    maximum, total, result = sbuf((QUERIES, 1), nl.float32), sbuf((QUERIES, 1), nl.float32), sbuf((QUERIES, d), nl.float32)
    nisa.memset(dst=maximum, value=LOWEST)
    nisa.memset(dst=total, value=0.0)
    nisa.memset(dst=result, value=0.0)
    for first_key in range(0, first_query + QUERIES, KEYS):
        scores = psum((QUERIES, KEYS))
        nisa.nc_matmul(dst=scores, stationary=query, moving=keys[:, first_key:first_key + KEYS])
        if first_key + KEYS > first_query + 1:
            scores = masked_scores(scores, first_query, first_key)
        block_max, new_max = sbuf((QUERIES, 1), nl.float32), sbuf((QUERIES, 1), nl.float32)
        nisa.tensor_reduce(dst=block_max, op=nl.maximum, data=scores, axis=1)
        nisa.tensor_tensor(dst=new_max, data1=maximum, data2=block_max, op=nl.maximum)
        # exp(scale s - scale m): the bias is -scale m.
        bias = sbuf((QUERIES, 1), nl.float32)
        nisa.tensor_scalar(dst=bias, data=new_max, op0=nl.multiply, operand0=-scale)
        powers, block_total = sbuf((QUERIES, KEYS), keys.dtype), sbuf((QUERIES, 1), nl.float32)
        nisa.activation_reduce(dst=powers, op=nl.exp, data=scores, scale=scale, bias=bias, reduce_op=nl.add,
                               reduce_res=block_total)
        shrink = sbuf((QUERIES, 1), nl.float32)
        nisa.activation(dst=shrink, op=nl.exp, data=maximum, scale=scale, bias=bias)
        nisa.scalar_tensor_tensor(dst=total, data=total, op0=nl.multiply, operand0=shrink, op1=nl.add,
                                  operand1=block_total)
        product = psum((QUERIES, d))
        for c, tile in enumerate(transposed(powers)):
            nisa.nc_matmul(dst=product, stationary=tile, moving=values[first_key // CHUNK + c])
        nisa.scalar_tensor_tensor(dst=result, data=result, op0=nl.multiply, operand0=shrink, op1=nl.add,
                                  operand1=product)
        maximum = new_max
    share = sbuf((QUERIES, 1), nl.float32)
    nisa.reciprocal(dst=share, data=total)
    final = sbuf((QUERIES, d), out.dtype)
    nisa.tensor_scalar(dst=final, data=result, op0=nl.multiply, operand0=share)
    nisa.dma_copy(dst=out[h, here, :], src=final)
