"""What the attention kernels share: shapes, which keys which queries see, heads in and out of HBM."""
import nki
import nki.isa as nisa
import nki.language as nl

from tiles import PARTITIONS, bytes_of, length, load, load_transposed, pieces, psum, sbuf

HELD = 8192  # bytes of a partition for the rows of one tensor, all heads of a chunk
TOGETHER = 4  # pieces of 128 rows in one transfer


class Shape(nki.NKIObject):
    def __init__(self, batch, time, heads, kv_heads, head_dim, window):
        self.batch, self.time, self.heads, self.kv_heads, self.head_dim = batch, time, heads, kv_heads, head_dim
        self.window = window
        self.ratio = heads // kv_heads
        self.scale = head_dim**-0.5
        self.rows = pieces(time, PARTITIONS)
        self.parts = pieces(head_dim, PARTITIONS)


class Chunk(nki.NKIObject):
    """Heads whose rows are in SBUF at a time: their columns in q and in k and v."""

    def __init__(self, s, first, kv_heads):
        self.kv_heads, self.heads = kv_heads, kv_heads * s.ratio
        self.first_head = first * s.ratio
        self.kv = slice(first * s.head_dim, (first + kv_heads) * s.head_dim)
        self.q = slice(self.kv.start * s.ratio, self.kv.stop * s.ratio)


def shape_of(q, k, head_dim, window):
    batch, time, width = q.shape
    heads, kv_heads = width // head_dim, k.shape[2] // head_dim
    assert head_dim <= 256, f"the head dimension is {head_dim}; at most 256 is supported"
    assert heads * head_dim == width and heads % kv_heads == 0, f"{heads} heads and {kv_heads} of keys and values"
    return Shape(batch, time, heads, kv_heads, head_dim, time if window == None else min(window, time))


def chunks_of_heads(s, dtype):
    most = max(HELD // (len(s.rows) * s.ratio * s.head_dim * bytes_of(dtype)), 1)
    return [Chunk(s, group.start, length(group)) for group in pieces(s.kv_heads, most)]


def visible_queries(s, keys, block):
    """Queries of the block that see some of the keys, rounded out to pieces of 128."""
    start = max(block.start, keys.start)
    stop = min(block.stop, keys.stop + s.window)
    start = block.start + (start - block.start) // PARTITIONS * PARTITIONS
    stop = min(block.stop, block.start + (stop - block.start + PARTITIONS - 1) // PARTITIONS * PARTITIONS)
    return slice(start, max(start, stop))


def visible_keys(s, queries, most):
    """Blocks of at most `most` keys that cover all that some of the queries see, rounded out to pieces of 128."""
    start = max(queries.start - s.window, 0) // PARTITIONS * PARTITIONS
    return [slice(start + few.start, start + few.stop) for few in pieces(queries.stop - start, most)]


def load_rows(tensor, b, columns):
    """tensor[b, :, columns] as tiles of 128 rows. One transfer brings four of them."""
    batch, time, width = tensor.shape
    tiles = []
    for rows in pieces(time // PARTITIONS * PARTITIONS, TOGETHER * PARTITIONS):
        count = length(rows) // PARTITIONS
        block = sbuf((PARTITIONS, count, length(columns)), tensor.dtype)
        nisa.dma_copy(dst=block, src=tensor.ap(
            pattern=[[width, PARTITIONS], [PARTITIONS * width, count], [1, length(columns)]],
            offset=(b * time + rows.start) * width + columns.start))
        for i in range(count):
            tiles.append(block[:, i, :])
    if time % PARTITIONS != 0:
        tiles.append(load(tensor[b, time // PARTITIONS * PARTITIONS:, columns]))
    return tiles


def store_rows(tensor, b, columns, tiles):
    for rows, tile in zip(pieces(tensor.shape[1], PARTITIONS), tiles):
        nisa.dma_copy(dst=tensor[b, rows, columns], src=tile)


def turned_heads(tiles, first, s):
    """Columns first … first + head_dim of all rows, turned: tiles [up to 128 of head_dim, time]. Four blocks go through
    one bank of PSUM and leave it together."""
    parts = []
    for part in s.parts:
        columns = slice(first + part.start, first + part.stop)
        whole = sbuf((length(part), s.time), tiles[0].dtype)
        for few in pieces(len(tiles), 4):
            start, stop = s.rows[few.start].start, s.rows[few.stop - 1].stop
            turned = psum((length(part), stop - start), tiles[0].dtype)
            for i in range(few.start, few.stop):
                nisa.nc_transpose(dst=turned[:, s.rows[i].start - start:s.rows[i].stop - start],
                                  data=tiles[i][:, columns], engine=nisa.engine.tensor)
            nisa.tensor_copy(dst=whole[:, start:stop], src=turned)
        parts.append(whole)
    return parts


def load_turned(tensor, b, first, s):
    """Columns first … first + head_dim of tensor[b], turned: tiles [up to 128 of head_dim, time]."""
    if bytes_of(tensor.dtype) == 2:  # by the DMA engines, on the way
        return [load_transposed(tensor[b, :, first + part.start:first + part.stop]) for part in s.parts]
    return turned_heads(load_rows(tensor, b, slice(first, first + s.head_dim)), 0, s)


def store_log_sums(lse, b, chunk, s, sums, shifts=None):
    """lse[b, heads of the chunk, :] = log(sums) + shifts, [128, heads row pieces]: one logarithm, so that its table is
    loaded once, and a turn, so that rows of 128 are stored."""
    logs = sbuf(sums.shape)
    nisa.activation(dst=logs, op=nl.log, data=sums)
    if shifts != None:
        nisa.tensor_tensor(dst=logs, data1=logs, data2=shifts, op=nl.add)
    each = len(s.rows)
    for few in pieces(chunk.heads, max(PARTITIONS // each, 1)):
        columns = slice(few.start * each, few.stop * each)
        turned, rows = psum((length(columns), PARTITIONS)), sbuf((length(columns), PARTITIONS))
        nisa.nc_transpose(dst=turned, data=logs[:, columns], engine=nisa.engine.tensor)
        nisa.tensor_copy(dst=rows, src=turned)
        heads = slice(chunk.first_head + few.start, chunk.first_head + few.stop)
        if s.time % PARTITIONS == 0:
            target = lse[b, heads, :].reshape_dim(1, (each, PARTITIONS))
            nisa.dma_copy(dst=target, src=rows)
        else:
            for h in range(length(few)):
                for i, piece in enumerate(s.rows):
                    at = h * each + i
                    nisa.dma_copy(dst=lse[b, heads.start + h, piece], src=rows[at:at + 1, :length(piece)])


def log_columns(chunk, s):
    """A tile [128, heads row pieces] for sums or shifts; ones where a last piece has no rows."""
    tile = sbuf((PARTITIONS, chunk.heads * len(s.rows)))
    if s.time % PARTITIONS != 0:
        nisa.memset(dst=tile, value=1.0)
    return tile
