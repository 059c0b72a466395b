"""Between HBM and the chip, and from tile to tile."""


from nki import isa

from neuronxcc.nki._assign import as_shape_of, is_hbm
from neuronxcc.nki._call import box_of, dtype_of, flush, give, operand, promoted, psum, tensor, within
from neuronxcc.nki._errors import error, refusal
from neuronxcc.nki._tensor import Tensor


def _check_partitions(name, src):
    if src.shape and src.shape[0] > 128:
        raise refusal("err_num_partition_exceed_arch_limit", f"{name}: {src!r} has {src.shape[0]} rows, which become "
                      "partitions; expected at most 128: load a tile at a time")


def load(src, *, mask=None, dtype=None, **_):
    """A tile in SBUF with the values of a tensor in HBM; its first dimension becomes partitions."""
    if not is_hbm(tensor("load", "src", src)):
        raise refusal("err_unsupported_memory", f"load: src is {src!r}; expected a tensor in HBM (tiles are copied with "
                      "nl.copy)")
    _check_partitions("load", src)
    shape = src.shape if len(src.shape) > 1 else tuple(src.shape) + (1,) if src.shape else (1, 1)
    box = box_of(mask, src.shape)
    if box is False:
        return give(shape, src.dtype, None, False, explicit=dtype)
    x = src.read(box)
    return give(shape, src.dtype, lambda dst: isa.dma_copy(dst, x), box, explicit=dtype)


def store(dst, value, *, mask=None, **_):
    """Writes a tile or a number to a tensor in HBM."""
    if not is_hbm(tensor("store", "dst", dst)):
        raise refusal("err_unsupported_memory", f"store: dst is {dst!r}; expected a tensor in HBM (tiles are written by "
                      "assignment)")
    box = box_of(mask, dst.shape)
    if box is False:
        flush()
        return
    if not isinstance(value, Tensor):
        value = _filled(dst.shape if box is None else [end - begin for begin, end in box], value, dst.dtype)
        source = value.read()
    else:
        source = value.read(within(box, value.shape))
    if value.buffer is psum:
        source = _out_of_psum(source)
    flush()
    target = dst.target(box)
    source, target = as_shape_of(source, target)
    isa.dma_copy(target, source)


def _filled(shape, value, dtype):
    from neuronxcc.nki.language.creation import full
    shape = tuple(shape) if len(shape) > 1 else tuple(shape) + (1,)
    return full(shape, value, dtype)


def _out_of_psum(core):
    from nki.language._tiles import copy_to_sbuf
    return copy_to_sbuf(core)


def load_transpose2d(src, *, mask=None, dtype=None, **_):
    """A tile in SBUF with src[j, i] at [i, j]: by DMA for types of 2 bytes, else by the Tensor engine."""
    from nki import language
    if not is_hbm(tensor("load_transpose2d", "src", src)) and src.itemsize == 2:
        raise refusal("err_unsupported_memory", f"load_transpose2d: src is {src!r}; expected a tensor in HBM")
    if len(src.shape) != 2:
        raise error("shape", f"load_transpose2d: src has shape {src.shape}; expected two dimensions")
    box = box_of(mask, src.shape)
    shape = (src.shape[1], src.shape[0])
    if box is False:
        return give(shape, src.dtype, None, False, explicit=dtype)
    x = src.read(box)
    left = None if box is None else [box[1], box[0]]
    if src.itemsize == 2 and dtype in (None, src.dtype):
        return give(shape, src.dtype, lambda dst: isa.dma_transpose(dst, x, axes=(1, 0)), left, explicit=dtype)
    flush()
    return _turned_in_pieces(x, shape, dtype or src.dtype)


def _turned_in_pieces(core, shape, dtype):
    """Transposes of 128 x 128 by the Tensor engine, copied into one tile."""
    from nki import language
    result = language._tiles.new_tile(shape, dtype_of(dtype))
    rows, columns = core.shape
    for top in range(0, rows, 128):
        bottom = min(top + 128, rows)
        piece = core[top:bottom]
        piece = language.load(piece) if piece.buffer.name not in ("sbuf", "psum") else piece
        for begin in range(0, columns, 128):
            end = min(begin + 128, columns)
            isa.tensor_copy(result[begin:end, top:bottom], language.transpose(piece[:, begin:end]))
    return Tensor(result)


def copy(src, *, mask=None, dtype=None, **_):
    """A copy of a tile."""
    box = box_of(mask, tensor("copy", "src", src).shape)
    x = None if box is False else src.read(box)
    if is_hbm(src):
        return load(src, mask=mask, dtype=dtype)
    return give(src.shape, src.dtype, lambda dst: isa.tensor_copy(dst, x), box, explicit=dtype)


def static_cast(value, dtype, **_):
    """A NumPy array, a number or a tile as another element type."""
    if isinstance(value, Tensor):
        return copy(value, dtype=dtype)
    import numpy as np
    from nki import dtype as dtypes
    return np.asarray(value).astype(dtypes.to_numpy(dtype_of(dtype)))


def atomic_rmw(dst, value, op, *, mask=None, **_):
    """dst op value in HBM, where dst may be gathered rows."""
    box = box_of(mask, tensor("atomic_rmw", "dst", dst).shape)
    source = None if box is False else tensor("atomic_rmw", "value", value).read(within(box, value.shape))
    flush()
    if box is not False:
        target = dst.target(box)
        isa.dma_compute(target, (source, target), op)


def broadcast_to(src, *, shape, **_):
    """src with dimensions of size 1 repeated to `shape`."""
    if tensor("broadcast_to", "src", src).shape == tuple(shape):
        return src
    return src.broadcast_to(tuple(int(size) for size in shape))


def expand_dims(data, axis):
    """A view with dimensions of size 1 before each axis."""
    tensor("expand_dims", "data", data)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = len(data.shape) + len(axes)
    for place in sorted(a + rank if a < 0 else a for a in axes):
        data = data.expand_dims(place)
    return data


def where(condition, x, y, *, dtype=None, mask=None, **_):
    """x where condition is not 0, else y."""
    from nki import language
    box = box_of(mask, tensor("where", "condition", condition).shape)
    if box is False:
        return give(condition.shape, promoted(x, y), None, False, explicit=dtype)
    flush()
    x, y = (value.broadcast_to(condition.shape) if isinstance(value, Tensor) and value.shape != condition.shape and
            len(value.shape) == len(condition.shape) else value for value in (x, y))
    chosen = [operand("where", "x and y", value, box) for value in (x, y)]
    result = language.where(condition.read(box), *chosen, dtype=None if dtype is None else dtype_of(dtype))
    if box is None:
        return Tensor(result)
    return give(condition.shape, result.dtype, lambda dst: isa.tensor_copy(dst, result), box)


def gather_flattened(data, indices, *, mask=None, dtype=None, **_):
    """data[p, indices[p, …]] in each partition p, the free dimensions of data taken as one."""
    tensor("gather_flattened", "data", data)
    box = box_of(mask, tensor("gather_flattened", "indices", indices).shape)
    if box is False:
        return give(indices.shape, data.dtype, None, False, explicit=dtype)
    flush()
    places = indices.read(box)
    if places.dtype != "uint32":
        from nki.language._tiles import copy_to_sbuf
        places = copy_to_sbuf(places, "uint32")
    x = data.read(None if box is None else [box[0]] + [(0, size) for size in data.shape[1:]])
    return give(indices.shape, data.dtype, lambda dst: isa.nc_n_gather(dst, x, places), box, explicit=dtype)


def transpose(x, *, dtype=None, mask=None, **_):
    """x[i, j] at [j, i], by the Tensor engine."""
    from neuronxcc.nki.isa import nc_transpose
    if tensor("transpose", "x", x).buffer is psum:
        flush()
        x = Tensor(_out_of_psum(x.read()))
    return nc_transpose(x, mask=mask, dtype=dtype, engine=isa.engine.tensor)


def loop_reduce(x, op, loop_indices, *, dtype=None, mask=None, **_):
    """op over the trips of loops: the destination holds x in the first trip, and op of itself and x afterwards."""
    from neuronxcc.nki.language.loops import is_first_trip
    tensor("loop_reduce", "x", x)
    box = box_of(mask, x.shape)
    value = None if box is False else x.read(box)
    indices = loop_indices if isinstance(loop_indices, (tuple, list)) else [loop_indices]
    first = all(is_first_trip(index) for index in indices)

    def issue(dst):
        if first:
            isa.tensor_copy(dst, value)
        else:
            isa.tensor_tensor(dst, dst, value, op)
    return give(x.shape, x.dtype, issue, box, explicit=dtype)
