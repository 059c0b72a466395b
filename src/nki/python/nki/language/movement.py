"""Between HBM and the chip, and from tile to tile."""
from nki import isa
from nki._errors import describe, error
from nki.language import _types
from nki.language._tiles import copy_to_sbuf, is_tile, new_tile, out_of_psum, tile
from nki.language.memory import is_hbm
from nki.language.shapes import broadcast_view


def _hbm(name, argument, value):
    if not is_tile(value) or not is_hbm(value.buffer):
        raise error("memory", f"{name}: {argument} is {describe(value)}; expected a tensor in "
                    "HBM: an argument of the kernel or nl.ndarray(..., buffer=nl.shared_hbm)")
    return value


def load(src, dtype=None):
    """A new tile in SBUF with the values of `src`, a tensor in HBM; the first dimension becomes
    partitions."""
    result = new_tile(_hbm("load", "src", src).shape, dtype or src.dtype)
    isa.dma_copy(dst=result, src=src)
    return result


def store(dst, value):
    """Writes a tile to `dst`, a tensor in HBM of as many elements."""
    isa.dma_copy(dst=_hbm("store", "dst", dst), src=out_of_psum(tile("store", "value", value)))


def load_transpose2d(src, dtype=None):
    """A new tile in SBUF with src[j, i] at [i, j]; by DMA for types of 2 bytes, else by the Tensor
    engine."""
    if _hbm("load_transpose2d", "src", src).ndim != 2:
        raise error("shape", f"load_transpose2d: src has shape {src.shape}; expected two dimensions")
    shape = (src.shape[1], src.shape[0])
    if src.itemsize == 2:
        result = new_tile(shape, src.dtype)
        isa.dma_transpose(dst=result, src=src, axes=(1, 0))
        return result if dtype in (None, src.dtype) else copy_to_sbuf(result, dtype)
    from nki.language.shapes import transpose
    return copy_to_sbuf(transpose(load(src)), dtype)


def copy(x, dtype=None):
    """A copy of a tile, in SBUF; the same bits when the type stays."""
    return copy_to_sbuf(tile("copy", "x", x), dtype)


def _as_tile(value, shape, dtype):
    """Tiles of `dtype` and `shape` for where()."""
    if is_tile(value):
        value = tile("where", "x and y", value)
        return broadcast_view(value, shape) if value.shape != shape else value
    filled = new_tile(shape, dtype)
    isa.memset(dst=filled, value=int(value) if _types.is_integer(dtype) else float(value))
    return filled


def where(condition, x, y, dtype=None):
    """x where condition is not 0, else y."""
    from nki.language.logic import not_equal
    shape = tile("where", "condition", condition).shape
    tiles = [value.dtype for value in (x, y) if is_tile(value)]
    if not tiles:
        raise error("argument", "where: x and y are numbers; expected a tile for one of them")
    dtype = dtype or (_types.promote(*tiles) if len(tiles) == 2 else tiles[0])
    predicate = new_tile(shape, "uint8")
    isa.tensor_scalar(dst=predicate, data=condition, op0=not_equal, operand0=0.0)
    result = copy_to_sbuf(_as_tile(y, shape, dtype), dtype)
    chosen = _as_tile(x, shape, dtype)
    if chosen.dtype != dtype:
        chosen = copy_to_sbuf(chosen, dtype)
    isa.tensor_copy_predicated(dst=result, src=chosen, predicate=predicate)
    return result


def gather_flattened(data, indices, axis=0, dtype=None):
    """data[p, indices[p, ...]] in each partition p, the free dimensions of data taken as one."""
    if axis != 0:
        raise error("unsupported", f"gather_flattened: axis={axis}; the free dimensions are gathered "
                    "from as one, so the default is the only choice")
    tile("gather_flattened", "data", data)
    if tile("gather_flattened", "indices", indices).dtype != "uint32":
        indices = copy_to_sbuf(indices, "uint32")
    result = new_tile(indices.shape, data.dtype)
    isa.nc_n_gather(dst=result, data=out_of_psum(data), indices=out_of_psum(indices))
    return result if dtype in (None, data.dtype) else copy_to_sbuf(result, dtype)
