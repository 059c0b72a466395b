"""Gradients of causal attention from the saved log_sum_exp: the host op `attention_grad`.

    dy, y, q [batch, T, heads head_dim]   k, v [batch, T, kv_heads head_dim]   log_sum_exp [batch, heads, T] fp32
With P = exp(scale q k^T - log_sum_exp) and delta = sum(dy y) of each row:
    dS = P (dy v^T - delta)    dq = scale dS k    dk = scale dS^T q    dv = P^T dy
Blocks of keys pass by outside, 128 queries at a time inside, so dk and dv of a block add up in PSUM; dq adds up in SBUF.
P and dS have queries on partitions as the products for dv and dk want them; only dq needs dS turned.
"""
import nki
import nki.isa as nisa
import nki.language as nl

from attention_parts import chunks_of_heads, load_rows, shape_of, store_rows, turned_heads
from tiles import PARTITIONS, hbm, length, load, pieces, psum, sbuf


def attention_grad_reference(dy, q, k, v, y, log_sum_exp, head_dim, window=None):
    import numpy as np
    batch, T, _ = q.shape
    heads, kv_heads = q.shape[2] // head_dim, k.shape[2] // head_dim
    dy, q4, k4, v4, y = (np.asarray(t, dtype=np.float32).reshape(batch, T, -1, head_dim) for t in (dy, q, k, v, y))
    k4, v4 = (np.repeat(t, heads // kv_heads, axis=2) for t in (k4, v4))
    scale = np.float32(head_dim)**-0.5
    distance = np.arange(T)[:, None] - np.arange(T)[None, :]
    seen = (distance >= 0) & (distance <= (T if window is None else window))
    scores = np.where(seen, np.einsum("bqhd,bkhd->bhqk", q4, k4) * scale, -np.inf)
    powers = np.exp(scores - log_sum_exp[..., None])
    delta = np.einsum("bqhd,bqhd->bhq", dy, y)
    ds = powers * (np.einsum("bqhd,bkhd->bhqk", dy, v4) - delta[..., None]) * scale
    dq = np.einsum("bhqk,bkhd->bqhd", ds, k4)
    groups = (batch, T, kv_heads, heads // kv_heads, head_dim)
    dk = np.einsum("bhqk,bqhd->bkhd", ds, q4).reshape(groups).sum(axis=3)
    dv = np.einsum("bhqk,bqhd->bkhd", powers, dy).reshape(groups).sum(axis=3)
    return tuple(t.reshape(like.shape).astype(like.dtype) for t, like in ((dq, q), (dk, k), (dv, v)))


@nki.jit
def attention_grad(dy, q, k, v, y, log_sum_exp, head_dim, window=None):
    s = shape_of(q, k, head_dim, window)
    dq, dk, dv = hbm(q.shape, q.dtype), hbm(k.shape, k.dtype), hbm(v.shape, v.dtype)
    for b in nl.affine_range(s.batch):
        for chunk in chunks_of_heads(s, q.dtype):
            keys, values = load_rows(k, b, chunk.kv), load_rows(v, b, chunk.kv)
            queries, gradients, results = load_rows(q, b, chunk.q), load_rows(dy, b, chunk.q), load_rows(y, b, chunk.q)
            to_q = [sbuf((length(r), length(chunk.q)), q.dtype) for r in s.rows]
            to_k = [sbuf((length(r), length(chunk.kv)), k.dtype) for r in s.rows]
            to_v = [sbuf((length(r), length(chunk.kv)), v.dtype) for r in s.rows]
            for g in range(chunk.kv_heads):
                columns = slice(g * head_dim, (g + 1) * head_dim)
                group = [query_head(s, b, chunk, h, queries, gradients, results, log_sum_exp)
                         for h in range(g * s.ratio, (g + 1) * s.ratio)]
                key_head(s, group, [t[:, columns] for t in keys], [t[:, columns] for t in values],
                         [t[:, columns] for t in to_k], [t[:, columns] for t in to_v])
                for head in group:
                    for row in range(len(s.rows)):
                        nisa.activation(dst=to_q[row][:, head.columns], op=nl.copy, data=head.total[row], scale=s.scale)
            store_rows(dq, b, chunk.q, to_q)
            store_rows(dk, b, chunk.kv, to_k)
            store_rows(dv, b, chunk.kv, to_v)
    return dq, dk, dv


class QueryHead(nki.NKIObject):
    """What one head of queries brings along: its rows and turned rows, two columns of each row, the sum of dq."""


def query_head(s, b, chunk, h, queries, gradients, results, log_sum_exp):
    head = QueryHead()
    head.columns = slice(h * s.head_dim, (h + 1) * s.head_dim)
    head.rows = [t[:, head.columns] for t in queries]
    head.gradients = [t[:, head.columns] for t in gradients]
    head.turned = turned_heads(queries, h * s.head_dim, s)
    head.turned_gradients = turned_heads(gradients, h * s.head_dim, s)
    head.total = [sbuf((length(r), s.head_dim)) for r in s.rows]
    head.started = [False for _ in s.rows]
    head.minus_lse = columns_of(s, log_sum_exp, b, chunk.first_head + h)
    head.delta = sbuf((PARTITIONS, len(s.rows)))
    for row, r in enumerate(s.rows):
        product, unread = sbuf((length(r), s.head_dim)), sbuf((length(r), s.head_dim), nl.bfloat16)
        nisa.tensor_tensor(dst=product, data1=head.gradients[row], data2=results[row][:, head.columns], op=nl.multiply,
                           engine=nisa.engine.gpsimd)
        nisa.activation_reduce(dst=unread, op=nl.copy, data=product, reduce_op=nl.add,
                               reduce_res=head.delta[:length(r), row:row + 1])
    return head


def columns_of(s, log_sum_exp, b, head):
    """-log_sum_exp of a head with rows on partitions: [128, row pieces]."""
    minus = sbuf((PARTITIONS, len(s.rows)))
    whole = s.time // PARTITIONS
    if whole > 0:
        rows = load(log_sum_exp[b, head, :whole * PARTITIONS].reshape_dim(0, (whole, PARTITIONS)))
        turn_and_negate(minus[:, :whole], rows)
    if whole < len(s.rows):
        rest = s.time - whole * PARTITIONS
        turn_and_negate(minus[:rest, whole:], load(log_sum_exp[b, head, whole * PARTITIONS:].reshape_dim(0, (1, rest))))
    return minus


def turn_and_negate(dst, rows):
    turned = psum((rows.shape[1], rows.shape[0]))
    nisa.nc_transpose(dst=turned, data=rows, engine=nisa.engine.tensor)
    nisa.activation(dst=dst, op=nl.copy, data=turned, scale=-1.0)


def key_head(s, group, keys, values, to_k, to_v):
    """dk and dv of one head of keys, and what its keys add to dq of the heads of queries that share it."""
    keys_t, values_t = turned_heads(keys, 0, s), turned_heads(values, 0, s)
    for block in pieces(s.time, 512 if s.head_dim <= PARTITIONS else 256):
        steps = pieces(length(block), PARTITIONS)
        sum_k, sum_v = (psum((PARTITIONS, len(steps), s.head_dim)) for _ in range(2))
        started = [False for _ in steps]
        work = [(head, row) for head in group for row in range(len(s.rows)) if length(seen_keys(s, s.rows[row], block)) > 0]
        ahead = products(s, work[0][0], work[0][1], block, keys_t, values_t)
        for n, (head, row) in enumerate(work):
            scores, changes = ahead
            if n + 1 < len(work):
                ahead = products(s, work[n + 1][0], work[n + 1][1], block, keys_t, values_t)
            seen = seen_keys(s, s.rows[row], block)
            powers, ds = powers_and_gradient(s, head, row, seen, scores, changes, keys[0].dtype)
            inside = [(i, step, slice(step.start + block.start - seen.start, step.stop + block.start - seen.start))
                      for i, step in enumerate(steps)
                      if step.start + block.start >= seen.start and step.start + block.start < seen.stop]
            for i, step, at in inside:
                size = length(step)
                nisa.nc_matmul(dst=sum_v[:size, i, :], stationary=powers[:, at], moving=head.gradients[row],
                               accumulate=started[i])
                nisa.nc_matmul(dst=sum_k[:size, i, :], stationary=ds[:, at], moving=head.rows[row], accumulate=started[i])
                started[i] = True
            add_to_queries(s, head, row, seen, ds, keys)
        for i, step in enumerate(steps):
            at, size = block.start // PARTITIONS + i, length(step)
            nisa.tensor_copy(dst=to_v[at], src=sum_v[:size, i, :])
            nisa.activation(dst=to_k[at], op=nl.copy, data=sum_k[:size, i, :], scale=s.scale)


def seen_keys(s, queries, block):
    """Keys of the block that some of the queries see, rounded out to pieces of 128."""
    start = max(block.start, max(queries.start - s.window, 0) // PARTITIONS * PARTITIONS)
    return slice(start, max(start, min(block.stop, queries.stop)))


def products(s, head, row, block, keys_t, values_t):
    """q k^T and dy v^T of 128 queries and the keys of the block that they see."""
    queries = s.rows[row]
    seen = seen_keys(s, queries, block)
    scores, changes = (psum((length(queries), length(seen))) for _ in range(2))
    for part in range(len(keys_t)):
        nisa.nc_matmul(dst=scores, stationary=head.turned[part][:, queries], moving=keys_t[part][:, seen],
                       accumulate=part > 0)
    for part in range(len(keys_t)):
        nisa.nc_matmul(dst=changes, stationary=head.turned_gradients[part][:, queries], moving=values_t[part][:, seen],
                       accumulate=part > 0)
    return scores, changes


def powers_and_gradient(s, head, row, seen, scores, changes, dtype):
    """P and dS / scale of 128 queries and some keys, as the products read them."""
    queries = s.rows[row]
    count = length(queries)
    powers, ds = sbuf(scores.shape, dtype), sbuf(scores.shape, dtype)
    nisa.activation(dst=powers, op=nl.exp, data=scores, scale=s.scale, bias=head.minus_lse[:count, row:row + 1])
    late = slice(max(queries.start, seen.start), seen.stop)  # keys that come after some of the queries
    if length(late) > 1:
        part = powers[:, late.start - seen.start:]
        nisa.affine_select(dst=part, pattern=[[-1, length(late)]], offset=queries.start - late.start, channel_multiplier=1,
                           on_true_tile=part, on_false_value=0.0, cmp_op=nl.greater_equal)
    old = slice(seen.start, min(seen.stop, queries.stop - 1 - s.window))  # keys too old for some of the queries
    if length(old) > 0:
        part = powers[:, :length(old)]
        nisa.affine_select(dst=part, pattern=[[1, length(old)]], offset=old.start - queries.start + s.window,
                           channel_multiplier=-1, on_true_tile=part, on_false_value=0.0, cmp_op=nl.greater_equal)
    nisa.scalar_tensor_tensor(dst=ds, data=changes, op0=nl.subtract, operand0=head.delta[:count, row:row + 1],
                              op1=nl.multiply, operand1=powers)
    return powers, ds


def add_to_queries(s, head, row, seen, ds, keys):
    """The share of some keys in dq / scale of 128 queries."""
    count = ds.shape[0]
    steps = pieces(length(seen), PARTITIONS)
    turned = psum((PARTITIONS, len(steps), count), ds.dtype)
    tiles = sbuf((PARTITIONS, len(steps), count), ds.dtype)
    for i, step in enumerate(steps):
        nisa.nc_transpose(dst=turned[:length(step), i, :], data=ds[:, step], engine=nisa.engine.tensor)
    whole = length(seen) // PARTITIONS
    if whole > 0:
        nisa.tensor_copy(dst=tiles[:, :whole, :], src=turned[:, :whole, :])
    if whole < len(steps):
        rest = length(steps[-1])
        nisa.tensor_copy(dst=tiles[:rest, whole, :], src=turned[:rest, whole, :])
    share = psum((count, s.head_dim))
    for i, step in enumerate(steps):
        nisa.nc_matmul(dst=share, stationary=tiles[:length(step), i, :], moving=keys[seen.start // PARTITIONS + i],
                       accumulate=i > 0)
    if head.started[row]:
        nisa.tensor_tensor(dst=head.total[row], data1=head.total[row], data2=share, op=nl.add)
    else:
        nisa.tensor_copy(dst=head.total[row], src=share)
        head.started[row] = True
