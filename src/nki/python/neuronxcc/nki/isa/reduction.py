"""Reductions and statistics of the Vector and GpSimd engines."""
from nki import isa
from nki.language._tiles import out_of_psum
from neuronxcc.nki._call import box_of, give, tensor
from neuronxcc.nki._errors import error


def axes_of(name, data, axis):
    """`axis` as a sorted tuple of free dimensions."""
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(sorted(int(a) + len(data.shape) if a < 0 else int(a) for a in given))
    if not axes or axes[0] < 1 or axes[-1] >= len(data.shape):
        raise error("shape", f"{name}: axis is {axis} of {data!r}; expected free dimensions, 1 to {len(data.shape) - 1}")
    return axes


def reduced_shape(shape, axes, keepdims):
    """The shape of a reduction of a tile; two dimensions at least."""
    left = tuple(1 if dim in axes else size for dim, size in enumerate(shape) if keepdims or dim not in axes)
    return left if len(left) > 1 else left + (1,)


def in_order(core, axes):
    """A view whose last dimensions are those to be reduced, which instructions need, and their new places."""
    rank = core.ndim
    if axes == tuple(range(rank - len(axes), rank)):
        return core, axes
    core = core.permute([dim for dim in range(rank) if dim not in axes] + list(axes))
    return core, tuple(range(rank - len(axes), rank))


def tensor_reduce(op, data, axis, *, mask=None, dtype=None, negate=False, keepdims=False):
    """op over free dimensions of a tile."""
    axes = axes_of("tensor_reduce", tensor("tensor_reduce", "data", data), axis)
    shape = reduced_shape(data.shape, axes, keepdims)
    box = box_of(mask, data.shape)
    if box is False:
        return give(shape, data.dtype, None, False, explicit=dtype)
    x, places = in_order(data.read(box), axes)
    left = None
    if box is not None:
        left = [(0, 1) if dim in axes else part for dim, part in enumerate(box) if keepdims or dim not in axes]
        left = left if len(left) > 1 else left + [(0, 1)]
    keeps = keepdims and places == axes

    def issue(dst):
        if keepdims and not keeps:
            dst = dst.reshape(reduced_shape(x.shape, places, False))
        isa.tensor_reduce(dst, op, x, places, negate=negate, keepdims=keeps)
    return give(shape, data.dtype, issue, left, explicit=dtype)


def tensor_partition_reduce(op, data, *, mask=None, dtype=None):
    """op over the partitions of a tile, by the GpSimd engine."""
    box = box_of(mask, tensor("tensor_partition_reduce", "data", data).shape)
    if box is False:
        return give((1,) + data.shape[1:], data.dtype, None, False, explicit=dtype)
    x = out_of_psum(data.read(box))
    left = None if box is None else [(0, 1)] + list(box[1:])
    return give((1,) + tuple(data.shape[1:]), data.dtype, lambda dst: isa.tensor_partition_reduce(dst, op, x), left,
                explicit=dtype)


def bn_stats(data, *, mask=None, dtype=None):
    """Six statistics a partition, of which bn_aggr makes mean and variance."""
    box = box_of(mask, tensor("bn_stats", "data", data).shape)
    x = None if box is False else data.read(box)
    left = box if box in (None, False) else [box[0], (0, 6)]
    return give((data.shape[0], 6), "float32", lambda dst: isa.bn_stats(dst, x), left, explicit=dtype or "float32")


def bn_aggr(data, *, mask=None, dtype=None):
    """Mean and variance of the statistics of bn_stats."""
    box = box_of(mask, tensor("bn_aggr", "data", data).shape)
    x = None if box is False else data.read(box)
    left = box if box in (None, False) else [box[0], (0, 2)]
    return give((data.shape[0], 2), "float32", lambda dst: isa.bn_aggr(dst, x), left, explicit=dtype or "float32")
