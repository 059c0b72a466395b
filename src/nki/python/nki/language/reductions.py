"""Reductions over the last free dimensions of a tile, by the Vector engine."""
from nki import isa
from nki._errors import error
from nki.language.arithmetic import add, maximum, minimum, multiply
from nki.language.logic import logical_and
from nki.language._tiles import free_elements, new_tile, tile


def axes_of(name, x, axis):
    """`axis` as a tuple of the last free dimensions, which it must be."""
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(sorted(a + x.ndim if a < 0 else a for a in given))
    if not axes or axes != tuple(range(x.ndim - len(axes), x.ndim)) or axes[0] < 1:
        raise error("shape", f"{name}: axis is {axis} of a tile of shape {x.shape}; expected its last "
                    "dimensions without a gap, and not 0: partitions are reduced by "
                    "nisa.tensor_partition_reduce or a product with ones")
    return axes


def reduced_shape(x, axes, keepdims):
    """The shape of a reduction; on chip there are two dimensions at least."""
    if keepdims:
        return x.shape[:axes[0]] + (1,) * len(axes)
    return x.shape[:axes[0]] if axes[0] > 1 else (x.shape[0], 1)


def reduce(name, op, x, axis, dtype=None, keepdims=False, negate=False):
    """`op` over `axis` as a new tile."""
    axes = axes_of(name, tile(name, "x", x), axis)
    result = new_tile(reduced_shape(x, axes, keepdims), dtype or x.dtype)
    isa.tensor_reduce(dst=result, op=op, data=x, axis=axes, negate=negate, keepdims=keepdims)
    return result


def sum(x, axis, dtype=None, keepdims=False):
    """The sum over `axis`."""
    return reduce("sum", add, x, axis, dtype, keepdims)


def prod(x, axis, dtype=None, keepdims=False):
    """The product over `axis`."""
    return reduce("prod", multiply, x, axis, dtype, keepdims)


def max(x, axis, dtype=None, keepdims=False):
    """The largest over `axis`."""
    return reduce("max", maximum, x, axis, dtype, keepdims)


def min(x, axis, dtype=None, keepdims=False):
    """The smallest over `axis`."""
    return reduce("min", minimum, x, axis, dtype, keepdims)


def all(x, axis, dtype=None):
    """1 where no element over `axis` is 0."""
    return reduce("all", logical_and, x, axis, dtype)


def mean(x, axis, dtype=None, keepdims=False):
    """The mean over `axis`, of a sum in float32."""
    total = reduce("mean", add, x, axis, "float32", keepdims)
    result = new_tile(total.shape, dtype or x.dtype)
    isa.tensor_scalar(dst=result, data=total, op0=multiply, operand0=total.size / x.size)
    return result


def _var_of_partition(x, shape, dtype):
    """Over all free dimensions: statistics of pieces, put together."""
    from nki.language.tile_size import tile_size
    rows = x.flatten_dims(1, x.ndim - 1) if x.ndim > 2 else x
    count, piece = free_elements(x), tile_size.bn_stats_fmax
    pieces = -(-count // piece)
    statistics = new_tile((x.shape[0], 6 * pieces), "float32")
    for i in range(pieces):
        isa.bn_stats(dst=statistics[:, 6 * i:6 * i + 6], data=rows[:, i * piece:(i + 1) * piece])
    mean_and_var = new_tile((x.shape[0], 2), "float32")
    isa.bn_aggr(dst=mean_and_var, data=statistics)
    result = new_tile(shape, dtype)
    isa.tensor_copy(dst=result, src=mean_and_var[:, 1:2])
    return result


def var(x, axis, dtype=None, keepdims=False):
    """The variance over `axis`, of all values as they are; its dimensions stay with size 1."""
    del keepdims
    axes = axes_of("var", tile("var", "x", x), axis)
    shape = reduced_shape(x, axes, True)
    if axes[0] == 1 and x.ndim <= 2:
        return _var_of_partition(x, shape, dtype or x.dtype)
    from nki.language.arithmetic import subtract
    from nki.language.functions import square
    return mean(square(subtract(x, mean(x, axis, "float32", True), "float32")), axis,
                dtype or x.dtype, True)
