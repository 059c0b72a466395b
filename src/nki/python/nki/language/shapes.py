"""Tiles of another shape: views where hardware can read one, copies where it cannot."""
from nki import isa
from nki._errors import error
from nki.language._tiles import copy_to_sbuf, new_tile, tile

_QUADRANT = 32  # partitions that one shuffle reaches


def broadcast_view(value, shape):
    """Free dimensions of 1 read again and again: a stride of 0."""
    for dim in range(1, value.ndim):
        if value.shape[dim] != shape[dim]:
            value = value.broadcast(dim, shape[dim])
    return value


def _to_all_partitions(value, partitions):
    """A copy of a tile of one partition in `partitions` of them."""
    result = new_tile((partitions,) + value.shape[1:], value.dtype)
    for start in range(0, partitions, _QUADRANT):
        isa.nc_stream_shuffle(dst=result[start:min(start + _QUADRANT, partitions)], src=value,
                              shuffle_mask=[0] * _QUADRANT)
    return result


def _check_target(x, shape):
    fits = len(shape) == x.ndim and all(a in (1, b) for a, b in zip(x.shape, shape))
    if not fits:
        raise error("shape", f"broadcast_to: x has shape {x.shape}, given {shape}; expected as many "
                    "dimensions, each equal or 1 in x")


def broadcast_to(x, shape, dtype=None):
    """x with dimensions of size 1 repeated to `shape`; x itself when it has that shape."""
    tile("broadcast_to", "x", x)
    shape = tuple(shape)
    _check_target(x, shape)
    if x.shape[0] != shape[0]:
        x = _to_all_partitions(x, shape[0])
    elif x.shape == shape and (dtype is None or dtype == x.dtype):
        return x
    if x.shape == shape and (dtype is None or dtype == x.dtype):
        return x
    return copy_to_sbuf(broadcast_view(x, shape), dtype)


def expand_dims(x, axis):
    """A view of x with a dimension of size 1 before `axis`."""
    tile("expand_dims", "x", x)
    return x.expand_dim(axis + x.ndim + 1 if axis < 0 else axis)


def transpose(x, dtype=None):
    """x[i, j] at [j, i]: in PSUM, or in SBUF when `dtype` is another than x's.

    By the Tensor engine, at most 128 x 128.
    """
    from nki.language.memory import psum
    from nki.language._tiles import out_of_psum
    if tile("transpose", "x", x).ndim != 2:
        raise error("shape", f"transpose: x has shape {x.shape}; expected two dimensions")
    result = new_tile((x.shape[1], x.shape[0]), x.dtype, psum)
    isa.nc_transpose(dst=result, data=out_of_psum(x), engine=isa.engine.tensor)
    return result if dtype is None or dtype == x.dtype else copy_to_sbuf(result, dtype)
