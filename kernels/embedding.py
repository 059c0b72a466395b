"""Table look-up by token id and its gradient: the host ops `embedding` and `embedding_grad`.

    embedding       y = table[ids]            ids [tokens, 1] i32, table [vocab, width]
    embedding_grad  d_table + what dy adds    d_table [vocab, width] fp32
Ids below 2^24, which fp32 holds exactly.
"""
import nki
import nki.isa as nisa
import nki.language as nl

from tiles import BANK, PARTITIONS, even_pieces, hbm, length, load, pieces, psum, sbuf

GROUP = 4  # pieces of 128 tokens whose gradients are summed together before the table is touched


def embedding_reference(ids, table, like=None):
    import numpy as np
    return np.asarray(table)[np.asarray(ids)[:, 0].astype(np.int64)].astype((table if like is None else like).dtype)


@nki.jit
def embedding(ids, table, like=None):
    """y in the type of `like`, else of the table. Each partition fetches the row that its id names."""
    tokens, width = ids.shape[0], table.shape[1]
    out = hbm((tokens, width), like.dtype if like != None else table.dtype)
    for here in pieces(tokens, PARTITIONS):
        rows = gathered(table, load(ids[here, :]))
        if like != None:
            turned = sbuf(rows.shape, like.dtype)
            nisa.tensor_copy(dst=turned, src=rows)
            rows = turned
        nisa.dma_copy(dst=out[here, :], src=rows)
    return out


def rows_of(table, wanted):
    """table[wanted], wanted a tile [count, 1] of row numbers, as the source or destination of a transfer."""
    width = table.shape[1]
    return table.ap(pattern=[[width, wanted.shape[0]], [1, width]], offset=0, vector_offset=wanted, indirect_dim=0)


def gathered(table, wanted):
    rows = sbuf((wanted.shape[0], table.shape[1]), table.dtype)
    nisa.dma_copy(dst=rows, src=rows_of(table, wanted))
    return rows


def embedding_grad_reference(dy, ids, d_table):
    import numpy as np
    total = np.array(d_table, dtype=np.float32)
    np.add.at(total, np.asarray(ids)[:, 0].astype(np.int64), np.asarray(dy, dtype=np.float32))
    return total


@nki.jit
def embedding_grad(dy, ids, d_table):
    """Adding by transfers would lose one of two equal ids. So the rows of equal ids among 512 tokens are first summed, by
    a product with the matrix that has 1 where two ids are equal; every one of them then holds the same sum, and it does
    not matter which is stored last. The groups follow one another."""
    tokens, width = dy.shape
    out = hbm(d_table.shape, nl.float32)
    nisa.dma_copy(dst=out, src=d_table)
    for group in pieces(tokens, GROUP * PARTITIONS):
        parts = [slice(group.start + p.start, group.start + p.stop) for p in pieces(length(group), PARTITIONS)]
        wanted = [load(ids[part, :]) for part in parts]
        gradients = [load(dy[part, :]) for part in parts]
        equal = equal_ids(ids, group, wanted, dy.dtype)
        before = [gathered(out, ids_of_part) for ids_of_part in wanted]
        for i, part in enumerate(parts):
            here = slice(part.start - group.start, part.stop - group.start)
            for columns in even_pieces(width, BANK):
                total = psum((length(part), length(columns)))
                for j in range(len(parts)):
                    nisa.nc_matmul(dst=total, stationary=equal[j][:, here], moving=gradients[j][:, columns],
                                   accumulate=j > 0)
                nisa.tensor_tensor(dst=before[i][:, columns], data1=before[i][:, columns], data2=total, op=nl.add)
        for i in range(len(parts)):
            nisa.dma_copy(dst=rows_of(out, wanted[i]), src=before[i])
    return out


def equal_ids(ids, group, wanted, dtype):
    """For each 128 tokens of the group: 1 where their id is that of a token of the group, else 0."""
    count = length(group)
    row = sbuf((PARTITIONS, count), ids.dtype)
    nisa.dma_copy(dst=row, src=ids.ap(pattern=[[0, PARTITIONS], [1, count]], offset=group.start))
    numbers = sbuf(row.shape)
    nisa.tensor_copy(dst=numbers, src=row)
    tiles = []
    for ids_of_part in wanted:
        size = ids_of_part.shape[0]
        own, equal = sbuf((size, 1)), sbuf((size, count), dtype)
        nisa.tensor_copy(dst=own, src=ids_of_part)
        nisa.tensor_scalar(dst=equal, data=numbers[:size, :], op0=nl.equal, operand0=own, engine=nisa.engine.vector)
        tiles.append(equal)
    return tiles
