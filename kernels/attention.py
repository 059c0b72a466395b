"""Causal attention without the [T, T] matrix in HBM (flash attention), forward: the host op `attention`.

    q [batch, T, heads head_dim]   k, v [batch, T, kv_heads head_dim]   y as q   log_sum_exp [batch, heads, T] fp32
Query t sees keys t - window … t. heads is a multiple of kv_heads; head_dim at most 256. Blocks of keys that no query of a
block sees are skipped.

    attention          any scores: a running maximum, as in the host op
    attention_bounded  scores (after scaling) of at most 80 in magnitude, which QK norm guarantees with gain^2
                       sqrt(head_dim) below it. No maximum is needed then, scores are computed with keys on partitions,
                       so nothing is transposed between the products, and sums come out of the product with v.
"""
import nki
import nki.isa as nisa
import nki.language as nl

from attention_parts import (chunks_of_heads, load_rows, load_turned, log_columns, shape_of, store_log_sums, store_rows,
                             visible_keys, visible_queries)
from tiles import PARTITIONS, hbm, length, pieces, psum, sbuf

QUERIES = 512   # of a block in attention_bounded: one bank of scores
AHEAD = 2       # how many scores it makes before it needs them
KEYS = 1024     # of a block in attention: two banks of scores
LOWEST = -3.0e38


def attention_reference(q, k, v, head_dim, window=None):
    import numpy as np
    batch, T, _ = q.shape
    heads, kv_heads = q.shape[2] // head_dim, k.shape[2] // head_dim
    q, k, values = (np.asarray(t, dtype=np.float32).reshape(batch, T, -1, head_dim) for t in (q, k, v))
    k, values = (np.repeat(t, heads // kv_heads, axis=2) for t in (k, values))
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(np.float32(head_dim))
    distance = np.arange(T)[:, None] - np.arange(T)[None, :]
    seen = (distance >= 0) & (distance <= (T if window is None else window))
    scores = np.where(seen, scores, -np.inf)
    most = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - most)
    sums = powers.sum(axis=-1, keepdims=True)
    y = np.einsum("bhqk,bkhd->bqhd", powers / sums, values).reshape(batch, T, heads * head_dim)
    return y.astype(v.dtype), (np.log(sums) + most)[..., 0].astype(np.float32)


attention_bounded_reference = attention_reference


@nki.jit
def attention_bounded(q, k, v, head_dim, window=None):
    s = shape_of(q, k, head_dim, window)
    y, lse = hbm(q.shape, q.dtype), hbm((s.batch, s.heads, s.time))
    unfinished = []
    for b in nl.affine_range(s.batch):
        for chunk in chunks_of_heads(s, q.dtype):
            values = load_values(v, b, chunk.kv, s)
            results = [sbuf((length(r), length(chunk.q)), q.dtype) for r in s.rows]
            sums = log_columns(chunk, s)
            for g in range(chunk.kv_heads):
                keys_t = load_turned(k, b, chunk.kv.start + g * head_dim, s)
                for h in range(g * s.ratio, (g + 1) * s.ratio):
                    queries_t = load_turned(q, b, chunk.q.start + h * head_dim, s)
                    attend_bounded(s, queries_t, keys_t, [tile[:, g, :] for tile in values], results, sums, h)
            store_rows(y, b, chunk.q, results)
            unfinished.append((b, chunk, sums))
    for b, chunk, sums in unfinished:  # the logarithm's table pushes the exponential's out
        store_log_sums(lse, b, chunk, s, sums)
    return y, lse


def load_values(v, b, columns, s):
    """Rows of v as tiles [rows, heads, head_dim + 1]: behind each head a column of ones, whose product is the sum."""
    heads = length(columns) // s.head_dim
    tiles = []
    for rows in load_rows(v, b, columns):
        tile = sbuf((rows.shape[0], heads, s.head_dim + 1), v.dtype)
        for h in range(heads):
            nisa.tensor_copy(dst=tile[:, h, :s.head_dim], src=rows[:, h * s.head_dim:(h + 1) * s.head_dim],
                             engine=nisa.engine.vector)
        nisa.memset(dst=tile[:, :, s.head_dim:], value=1.0, engine=nisa.engine.gpsimd)
        tiles.append(tile)
    return tiles


def attend_bounded(s, queries_t, keys_t, values, results, sums, h):
    """All rows of head h: results and sums. The tensor engine makes the next scores before it waits for these powers."""
    size = QUERIES if s.head_dim <= PARTITIONS else QUERIES // 2
    work = [(block, few) for block in pieces(s.time, size) for few in pairs_of_keys(s, block)]
    totals = []
    scores = [scores_of_keys(s, block, few, queries_t, keys_t) for block, few in work[:AHEAD]]
    for n, (block, few) in enumerate(work):
        powers = powers_of_keys(s, block, few, scores[n], values[0].dtype)
        if n + AHEAD < len(work):
            scores.append(scores_of_keys(s, work[n + AHEAD][0], work[n + AHEAD][1], queries_t, keys_t))
        if len(totals) == 0:
            totals = new_totals(s, block)
            started = [False for _ in totals]
        for i, (keys, seen) in enumerate(few):
            for j, sub in enumerate(pieces(length(block), PARTITIONS)):
                if sub.start >= seen.start - block.start and sub.start < seen.stop - block.start:
                    nisa.nc_matmul(dst=totals[j], stationary=powers[:length(keys), i, sub],
                                   moving=values[keys.start // PARTITIONS], accumulate=started[j])
                    started[j] = True
        if n + 1 == len(work) or work[n + 1][0].start != block.start:
            finish_rows(s, block, totals, results, sums, h)
            totals = []


def new_totals(s, block):
    """Accumulators [queries, head_dim + 1] for every 128 queries of the block, two to a bank of PSUM if they fit."""
    subs = pieces(length(block), PARTITIONS)
    share = 2 if s.head_dim < 256 else 1
    banks = [psum((PARTITIONS, share, s.head_dim + 1)) for _ in range(0, len(subs), share)]
    return [banks[j // share][:length(sub), j % share, :] for j, sub in enumerate(subs)]


def finish_rows(s, block, totals, results, sums, h):
    for j, total in enumerate(totals):
        row = block.start // PARTITIONS + j
        count = total.shape[0]
        share, at = sbuf((count, 1)), h * len(s.rows) + row
        nisa.reciprocal(dst=share, data=total[:, s.head_dim:])
        nisa.tensor_copy(dst=sums[:count, at:at + 1], src=total[:, s.head_dim:], engine=nisa.engine.vector)
        nisa.tensor_scalar(dst=results[row][:, h * s.head_dim:(h + 1) * s.head_dim], data=total[:, :s.head_dim],
                           op0=nl.multiply, operand0=share, engine=nisa.engine.vector)


def pairs_of_keys(s, block):
    """Keys in pieces of 128 with the queries of the block that see some of them; two pieces together where both are seen
    by the same queries."""
    seen = [(keys, visible_queries(s, keys, block)) for keys in s.rows]
    seen = [(keys, queries) for keys, queries in seen if length(queries) > 0]
    groups = []
    for keys, queries in seen:
        alone = len(groups) == 0 or len(groups[-1]) == 2
        if not alone:
            other = groups[-1][0]
            alone = length(other[0]) != length(keys) or (other[1].start, other[1].stop) != (queries.start, queries.stop)
        if alone:
            groups.append([(keys, queries)])
        else:
            groups[-1].append((keys, queries))
    return groups


def scores_of_keys(s, block, few, queries_t, keys_t):
    """k q^T: [keys, 1 or 2, queries of the block], in PSUM, for the queries that see some of the keys."""
    seen = few[0][1]
    here = slice(seen.start - block.start, seen.stop - block.start)
    scores = psum((length(few[0][0]), len(few), length(block)))
    for i, (keys, _) in enumerate(few):
        for part in range(len(keys_t)):
            nisa.nc_matmul(dst=scores[:, i, here], stationary=keys_t[part][:, keys], moving=queries_t[part][:, seen],
                           accumulate=part > 0)
    return scores


def powers_of_keys(s, block, few, scores, dtype):
    """exp(scale score); 0 where a query does not see a key."""
    seen = few[0][1]
    here = slice(seen.start - block.start, seen.stop - block.start)
    powers = sbuf(scores.shape, dtype)
    nisa.activation(dst=powers[:, :, here], op=nl.exp, data=scores[:, :, here], scale=s.scale)
    for i, (keys, _) in enumerate(few):
        hide(s, powers[:, i, :], keys, block, seen)
    return powers


def hide(s, powers, keys, block, seen):
    """Zeroes powers[keys, queries of the block] where the key comes after the query, or more than the window before it."""
    late = slice(max(seen.start, keys.start), min(seen.stop, keys.stop))  # queries that some of the keys come after
    if length(late) > 1:
        part = powers[:, late.start - block.start:late.stop - block.start]
        nisa.affine_select(dst=part, pattern=[[1, length(late)]], offset=late.start - keys.start, channel_multiplier=-1,
                           on_true_tile=part, on_false_value=0.0, cmp_op=nl.greater_equal)
    first = max(seen.start, keys.start + s.window + 1)  # the first query that the first key is too old for
    if first < seen.stop:
        part = powers[:, first - block.start:seen.stop - block.start]
        nisa.affine_select(dst=part, pattern=[[-1, seen.stop - first]], offset=keys.start - first + s.window,
                           channel_multiplier=1, on_true_tile=part, on_false_value=0.0, cmp_op=nl.greater_equal)


@nki.jit
def attention(q, k, v, head_dim, window=None):
    s = shape_of(q, k, head_dim, window)
    y, lse = hbm(q.shape, q.dtype), hbm((s.batch, s.heads, s.time))
    unfinished = []
    for b in nl.affine_range(s.batch):
        for chunk in chunks_of_heads(s, q.dtype):
            values = load_rows(v, b, chunk.kv)
            results = [sbuf((length(r), length(chunk.q)), q.dtype) for r in s.rows]
            sums = log_columns(chunk, s)
            shifts = log_columns(chunk, s)
            for g in range(chunk.kv_heads):
                keys_t = load_turned(k, b, chunk.kv.start + g * head_dim, s)
                of_head = [tile[:, g * head_dim:(g + 1) * head_dim] for tile in values]
                for h in range(g * s.ratio, (g + 1) * s.ratio):
                    queries_t = load_turned(q, b, chunk.q.start + h * head_dim, s)
                    attend(s, queries_t, keys_t, of_head, results, sums, shifts, h)
            store_rows(y, b, chunk.q, results)
            unfinished.append((b, chunk, sums, shifts))
    for b, chunk, sums, shifts in unfinished:
        store_log_sums(lse, b, chunk, s, sums, shifts)
    return y, lse


def attend(s, queries_t, keys_t, values, results, sums, shifts, h):
    """All rows of head h, 128 queries at a time with a running maximum. results: y; sums, shifts: log_sum_exp is log(sum) +
    shift. Scores and their maximum are made one block of keys ahead."""
    work = [(row, i, block) for row in range(len(s.rows))
            for i, block in enumerate(visible_keys(s, s.rows[row], KEYS))]
    ahead = scores_and_maximum(s, work[0], queries_t, keys_t, None)
    for n, (row, i, block) in enumerate(work):
        scores, highest, bias = ahead
        column = highest.shape
        powers, more = sbuf((column[0], length(block)), values[0].dtype), sbuf(column)
        nisa.activation_reduce(dst=powers, op=nl.exp, data=scores, scale=s.scale, bias=bias, reduce_op=nl.add,
                               reduce_res=more)
        if i > 0:
            # What was summed so far shrinks by exp(scale (old maximum - new maximum)).
            shrink = sbuf(column)
            nisa.activation(dst=shrink, op=nl.exp, data=maximum, scale=s.scale, bias=bias)
        if n + 1 < len(work):
            ahead = scores_and_maximum(s, work[n + 1], queries_t, keys_t, highest if work[n + 1][0] == row else None)
        product = product_with_values(s, powers, block, values)
        if i == 0:
            total, summed = more, sbuf(product.shape)
            nisa.tensor_copy(dst=summed, src=product)
        else:
            total, summed = shrunk(total, shrink, more), shrunk(summed, shrink, product)
        maximum = highest
        if n + 1 == len(work) or work[n + 1][0] != row:
            at = h * len(s.rows) + row
            finish_row(s, results[row][:, h * s.head_dim:(h + 1) * s.head_dim], summed, total, maximum,
                       sums[:column[0], at:at + 1], shifts[:column[0], at:at + 1])


def shrunk(old, shrink, more):
    """old shrink + more."""
    new = sbuf(old.shape)
    nisa.scalar_tensor_tensor(dst=new, data=old, op0=nl.multiply, operand0=shrink, op1=nl.add, operand1=more)
    return new


def finish_row(s, result, summed, total, maximum, sum_of_row, shift):
    share = sbuf(total.shape)
    nisa.reciprocal(dst=share, data=total)
    nisa.tensor_scalar(dst=result, data=summed, op0=nl.multiply, operand0=share, engine=nisa.engine.vector)
    nisa.tensor_copy(dst=sum_of_row, src=total, engine=nisa.engine.vector)
    nisa.tensor_scalar(dst=shift, data=maximum, op0=nl.multiply, operand0=s.scale, engine=nisa.engine.vector)


def scores_and_maximum(s, item, queries_t, keys_t, maximum):
    """Scores of 128 queries and a block of keys, the highest so far of each query, and what makes it the exponential's 0."""
    row, _, block = item
    scores = scores_of(s, s.rows[row], block, queries_t, keys_t)
    highest, bias = sbuf((scores.shape[0], 1)), sbuf((scores.shape[0], 1))
    nisa.tensor_reduce(dst=highest, op=nl.maximum, data=scores, axis=1)
    if maximum != None:
        both = sbuf(highest.shape)
        nisa.tensor_tensor(dst=both, data1=maximum, data2=highest, op=nl.maximum)
        highest = both
    nisa.tensor_scalar(dst=bias, data=highest, op0=nl.multiply, operand0=-s.scale, engine=nisa.engine.vector)
    return scores, highest, bias


def scores_of(s, queries, block, queries_t, keys_t):
    """q k^T of 128 queries and a block of keys, before scaling; the lowest number where a key is not seen."""
    scores = psum((length(queries), length(block)))
    for few in pieces(length(block), KEYS // 2):
        for part in range(len(keys_t)):
            nisa.nc_matmul(dst=scores[:, few], stationary=queries_t[part][:, queries],
                           moving=keys_t[part][:, block.start + few.start:block.start + few.stop], accumulate=part > 0)
    late = slice(max(queries.start - block.start, 0), length(block))  # keys that come after some of the queries
    if length(late) > 1:
        hide_scores(scores, late, [[-1, length(late)]], queries.start - block.start - late.start, 1)
    old = slice(0, min(length(block), queries.stop - 1 - s.window - block.start))  # keys too old for some of them
    if length(old) > 0:
        hide_scores(scores, old, [[1, length(old)]], block.start - queries.start + s.window, -1)
    return scores


def hide_scores(scores, columns, pattern, offset, channel_multiplier):
    """The lowest number where the affine value is negative. GpSimd does not reach PSUM, so the columns go there and back."""
    tile = sbuf((scores.shape[0], length(columns)))
    nisa.tensor_copy(dst=tile, src=scores[:, columns])
    nisa.affine_select(dst=tile, pattern=pattern, offset=offset, channel_multiplier=channel_multiplier, on_true_tile=tile,
                       on_false_value=LOWEST, cmp_op=nl.greater_equal)
    nisa.tensor_copy(dst=scores[:, columns], src=tile)


def product_with_values(s, powers, block, values):
    """powers [queries, keys] times v, in PSUM; powers are turned first, four pieces of 128 keys to a bank."""
    count = powers.shape[0]
    product = psum((count, s.head_dim))
    for few in pieces(length(block), KEYS // 2):
        steps = pieces(length(few), PARTITIONS)
        shape = (PARTITIONS, len(steps), count)
        turned, tiles = psum(shape, powers.dtype), sbuf(shape, powers.dtype)
        for i, keys in enumerate(steps):
            nisa.nc_transpose(dst=turned[:length(keys), i, :], engine=nisa.engine.tensor,
                              data=powers[:, few.start + keys.start:few.start + keys.stop])
        size = length(steps[0])
        whole = len([1 for keys in steps if length(keys) == size])
        nisa.tensor_copy(dst=tiles[:size, :whole, :], src=turned[:size, :whole, :])
        if whole < len(steps):
            rest = length(steps[-1])
            nisa.tensor_copy(dst=tiles[:rest, whole:, :], src=turned[:rest, whole:, :])
        for i, keys in enumerate(steps):
            at = block.start + few.start + keys.start
            nisa.nc_matmul(dst=product, stationary=tiles[:length(keys), i, :], moving=values[at // PARTITIONS],
                           accumulate=few.start + keys.start > 0)
    return product
