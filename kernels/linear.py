"""Matrix products with a weight and their two gradients, as the host ops `linear`, `linear_dgrad` and `linear_wgrad` (and
`logits`, which is linear with softcap) define them. Operands lie in HBM as the host holds them, rows after rows:

    linear         y = f(scale x w^T + bias) + residual    x [rows, in], w [out, in]    A B^T
    linear_dgrad   dx = addend + dy w                      dy [rows, out], w [out, in]  A B
    linear_wgrad   dw + dy^T x                             dy [rows, out], x [rows, in] A^T B

The tensor engine contracts over partitions, so an operand whose contraction runs along its rows is turned as it is
loaded. One block of the second operand stays in SBUF for the whole contraction while rows of the first pass by; where the
contraction is too long for that, as over all tokens, both pass by a block of the output in PSUM.
"""
import nki
import nki.isa as nisa
import nki.language as nl

from activation import activate, activation_reference
from tiles import (BANK, PARTITIONS, bytes_of, even_pieces, hbm, length, load, load_row, load_together, load_transposed,
                   pieces, psum, sbuf, transpose)

HELD = 32768  # bytes of a partition for the block of the second operand
ROWS = 512    # rows of the first operand that are loaded at a time
GROUP = 4     # banks of PSUM that fill together; as many again are emptied meanwhile
TOGETHER = 4  # pieces of K in one transfer


def linear_reference(x, w, scale=1.0, bias=None, kind="", residual=None, softcap=0.0):
    import numpy as np
    y = scale * (np.asarray(x, dtype=np.float32) @ np.asarray(w, dtype=np.float32).T)
    y = y if bias is None else y + np.asarray(bias, dtype=np.float32)
    y = softcap * np.tanh(y / softcap) if softcap > 0 else y
    y = activation_reference(y, kind) if kind else y
    return (y if residual is None else y + np.asarray(residual, dtype=np.float32)).astype(x.dtype)


@nki.jit
def linear(x, w, scale=1.0, bias=None, kind="", residual=None, softcap=0.0):
    """kind: "" or an activation (relu2, leaky_relu2, gelu, silu); bias [1, out]; residual [rows, out]; with a softcap c,
    c tanh(y / c)."""
    out = hbm((x.shape[0], w.shape[0]), x.dtype)
    product(out, RowsTurned(x), RowsTurned(w), Epilogue(scale, bias, kind, residual, softcap))
    return out


def linear_dgrad_reference(dy, w, addend=None):
    import numpy as np
    dx = np.asarray(dy, dtype=np.float32) @ np.asarray(w, dtype=np.float32)
    return (dx if addend is None else dx + np.asarray(addend, dtype=np.float32)).astype(dy.dtype)


@nki.jit
def linear_dgrad(dy, w, addend=None):
    out = hbm((dy.shape[0], w.shape[1]), dy.dtype)
    product(out, RowsTurned(dy), RowsAsTheyAre(w), Epilogue(residual=addend))
    return out


def linear_wgrad_reference(dy, x, dw=None):
    import numpy as np
    total = np.asarray(dy, dtype=np.float32).T @ np.asarray(x, dtype=np.float32)
    return total if dw is None else total + dw


@nki.jit
def linear_wgrad(dy, x, dw=None):
    """The gradient so far, fp32 [out, in], plus that of these rows."""
    out = hbm((dy.shape[1], x.shape[1]), nl.float32)
    product(out, RowsAsTheyAre(dy), RowsAsTheyAre(x), Epilogue(residual=dw))
    return out


class RowsTurned(nki.NKIObject):
    """An operand [free, K] of HBM: K has to be brought onto partitions."""

    def __init__(self, source):
        self.source = source
        self.free, self.depth = source.shape

    def tiles(self, depths, free):
        if bytes_of(self.source.dtype) == 2:
            return [load_transposed(self.source[free, k]) for k in depths]
        # Through the tensor engine: one load of 128 rows serves all pieces of K.
        tiles = [sbuf((length(k), length(free)), self.source.dtype) for k in depths]
        start, stop = depths[0].start, depths[-1].stop
        for rows in pieces(length(free), PARTITIONS):
            block = load(self.source[free.start + rows.start:free.start + rows.stop, start:stop])
            for k, tile in zip(depths, tiles):
                transpose(tile[:, rows], block[:, k.start - start:k.stop - start])
        return tiles


class RowsAsTheyAre(nki.NKIObject):
    """An operand [K, free] of HBM. One transfer brings several pieces of K."""

    def __init__(self, source):
        self.source = source
        self.depth, self.free = source.shape

    def tiles(self, depths, free):
        return load_together(self.source, depths, free)


class Epilogue(nki.NKIObject):
    """What happens to a product on its way out of PSUM, step by step; with no step it is copied."""

    def __init__(self, scale=1.0, bias=None, kind="", residual=None, softcap=0.0):
        self.scale, self.bias, self.kind, self.residual, self.softcap = scale, bias, kind, residual, softcap
        self.steps = []
        if bias != None:
            self.steps.append("bias")
        elif scale != 1.0:
            self.steps.append("scale")
        if softcap > 0:
            self.steps.append("softcap")
        if kind != "":
            self.steps.append("activation")
        if residual != None:
            self.steps.append("residual")

    def biases(self, columns):
        return load_row(self.bias, columns) if self.bias != None else None

    def apply(self, result, total, biases, rows, columns):
        """result (SBUF, of the output's type) from total (PSUM); biases is a tile, rows and columns are the place."""
        if len(self.steps) == 0:
            nisa.tensor_copy(dst=result, src=total)
        value = total
        for i, step in enumerate(self.steps):
            last = i + 1 == len(self.steps)
            value = self.apply_step(step, result if last else sbuf(result.shape), value, biases, rows, columns)

    def apply_step(self, step, dst, value, biases, rows, columns):
        if step == "bias":
            nisa.scalar_tensor_tensor(dst=dst, data=value, op0=nl.multiply, operand0=self.scale, op1=nl.add,
                                      operand1=biases[:dst.shape[0], :])
        elif step == "scale":
            nisa.activation(dst=dst, op=nl.copy, data=value, scale=self.scale)
        elif step == "softcap":
            bent = sbuf(dst.shape)
            nisa.activation(dst=bent, op=nl.tanh, data=value, scale=1.0 / self.softcap)
            nisa.tensor_scalar(dst=dst, data=bent, op0=nl.multiply, operand0=self.softcap)
        elif step == "activation":
            activate(dst, value, self.kind)
        else:
            nisa.tensor_tensor(dst=dst, data1=value, data2=load(self.residual[rows, columns]), op=nl.add)
        return dst


def product(out, left, right, epilogue):
    """out[left.free, right.free] = the sum over K of left times right."""
    depths = pieces(left.depth, PARTITIONS)
    width = max(bytes_of(left.source.dtype), bytes_of(right.source.dtype)) * len(depths)
    if width * min(BANK, right.free) > HELD:
        streamed(out, left, right, epilogue, depths)
    else:
        most = right.free if width * right.free <= HELD else HELD // width // BANK * BANK
        held_product(out, left, right, epilogue, depths, most)


def held_product(out, left, right, epilogue, depths, most):
    """A block of the right operand stays in SBUF for all of K while rows of the left one pass."""
    for columns in even_pieces(right.free, most):
        held = []
        biases = epilogue.biases(columns)
        for rows in pieces(left.free, ROWS):
            first = len(held) == 0
            passing = []
            for few in pieces(len(depths), TOGETHER):
                if first:
                    held += right.tiles(depths[few], columns)
                passing += left.tiles(depths[few], rows)
            across = even_pieces(length(columns), BANK)
            down = pieces(length(rows), PARTITIONS)
            together = max(GROUP // len(across), 1)
            for start in range(0, len(down), together):
                group = down[start:start + together]
                totals = new_totals(group, across)
                add_up(totals, group, across, passing, held, True)
                finish(out, totals, group, across, epilogue, biases, rows, columns)


def streamed(out, left, right, epilogue, depths):
    """For a K that does not fit: all of PSUM is one block of the output, and both operands pass by."""
    for columns in even_pieces(right.free, 2 * BANK):
        biases = epilogue.biases(columns)
        across = even_pieces(length(columns), BANK)
        for rows in pieces(left.free, PARTITIONS * (2 * GROUP // len(across))):
            group = pieces(length(rows), PARTITIONS)
            totals = new_totals(group, across)
            for few in pieces(len(depths), TOGETHER):
                passing, held = left.tiles(depths[few], rows), right.tiles(depths[few], columns)
                add_up(totals, group, across, passing, held, few.start == 0)
            finish(out, totals, group, across, epilogue, biases, rows, columns)


def new_totals(group, across):
    """A bank of PSUM for every piece of rows and of columns."""
    return [psum((length(m), length(n))) for m in group for n in across]


def add_up(totals, group, across, passing, held, first):
    """Adds the products of some pieces of K. The pieces come one after another for all banks, so that the first products
    need the first of them only."""
    for k in range(len(held)):
        for i, m in enumerate(group):
            for j, n in enumerate(across):
                nisa.nc_matmul(dst=totals[i * len(across) + j], stationary=passing[k][:, m], moving=held[k][:, n],
                               accumulate=not first or k > 0)


def finish(out, totals, group, across, epilogue, biases, rows, columns):
    for i, m in enumerate(group):
        result = sbuf((length(m), length(columns)), out.dtype)
        here = slice(rows.start + m.start, rows.start + m.stop)
        for j, n in enumerate(across):
            epilogue.apply(result[:, n], totals[i * len(across) + j], biases[:, n] if biases != None else None, here,
                           slice(columns.start + n.start, columns.start + n.stop))
        nisa.dma_copy(dst=out[here, columns], src=result)
