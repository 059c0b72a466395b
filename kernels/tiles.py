"""What the kernels of this folder share: tiles on chip, pieces of an axis, loads with a transpose.

Rows of a tensor in HBM lie on partitions, 128 at a time; sizes need not be multiples of anything, the last piece is
simply shorter.
"""
import nki.isa as nisa
import nki.language as nl

PARTITIONS = 128
BANK = 512  # fp32 of one PSUM bank in a partition, and the most that one product moves


def sbuf(shape, dtype=nl.float32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.sbuf)


def psum(shape, dtype=nl.float32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.psum)


def hbm(shape, dtype=nl.float32):
    return nl.ndarray(shape, dtype=dtype, buffer=nl.shared_hbm)


def pieces(total, most):
    """Slices of at most `most` that cover 0 … total in order."""
    return [slice(start, min(start + most, total)) for start in range(0, total, most)]


def even_pieces(total, most):
    """As few slices of at most `most` as pieces(), but of nearly one length: 640 in two of 320, not 512 and 128."""
    count = (total + most - 1) // most
    return pieces(total, (total + count - 1) // count)


def length(piece):
    return piece.stop - piece.start


def row_blocks(rows, width, most=2048):
    """(first row, partitions, rows a partition) of blocks that cover all rows: narrow rows share a partition, so that a
    block has up to `most` elements a partition and one transfer brings all of them in long pieces."""
    each = max(most // width, 1)
    whole = rows // (PARTITIONS * each)
    blocks = [(i * PARTITIONS * each, PARTITIONS, each) for i in range(whole)]
    rest = pieces(rows - whole * PARTITIONS * each, PARTITIONS)
    return blocks + [(whole * PARTITIONS * each + piece.start, length(piece), 1) for piece in rest]


def rows_view(tensor, block):
    """The rows of a block of a [rows, width] tensor as [partitions, rows a partition, width]."""
    first, partitions, each = block
    width = tensor.shape[1]
    return tensor.ap(pattern=[[each * width, partitions], [width, each], [1, width]], offset=first * width)


def bytes_of(dtype):
    return 4 if dtype in (nl.float32, nl.int32) else 2


def load(source):
    """A new SBUF tile with a view of HBM."""
    tile = sbuf(source.shape, source.dtype)
    nisa.dma_copy(dst=tile, src=source)
    return tile


def together(tensor, group, columns):
    """Pieces of 128 rows of a [rows, width] tensor as one [128, pieces, columns] view of HBM; whole pieces only."""
    width = tensor.shape[1]
    return tensor.ap(pattern=[[width, PARTITIONS], [PARTITIONS * width, len(group)], [1, length(columns)]],
                     offset=group[0].start * width + columns.start)


def load_together(tensor, group, columns):
    """tensor[piece, columns] for neighbouring pieces of 128 rows, in one transfer if all are whole."""
    if length(group[-1]) < PARTITIONS or len(group) == 1:
        return [load(tensor[piece, columns]) for piece in group]
    block = load(together(tensor, group, columns))
    return [block[:, i, :] for i in range(len(group))]


def load_row(vector, columns):
    """One row [1, width] of HBM on every partition: read with step 0 along partitions."""
    tile = sbuf((PARTITIONS, length(columns)), vector.dtype)
    nisa.dma_copy(dst=tile, src=vector.ap(pattern=[[0, PARTITIONS], [1, length(columns)]], offset=columns.start))
    return tile


def transpose(dst, data):
    """dst[f, p] = data[p, f] through the tensor engine, by way of PSUM."""
    turned = psum(dst.shape, data.dtype)
    nisa.nc_transpose(dst=turned, data=data, engine=nisa.engine.tensor)
    nisa.tensor_copy(dst=dst, src=turned)


def load_transposed(source):
    """A new tile [columns, rows] of a [rows, columns] view of HBM, columns at most 128."""
    rows, columns = source.shape
    tile = sbuf((columns, rows), source.dtype)
    load_transposed_into(tile, source)
    return tile


def load_transposed_into(tile, source):
    """Two-byte types are turned by the DMA engines on the way; others by the tensor engine, in blocks of 128 rows."""
    if source.dtype in (nl.bfloat16, nl.float16):
        nisa.dma_transpose(dst=tile, src=source)
    else:
        for piece in pieces(source.shape[0], PARTITIONS):
            transpose(tile[:, piece], load(source[piece, :]))
