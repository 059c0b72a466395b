"""Operations on two tiles, or on a tile and a number: one instruction each.

tensor_tensor for tiles, tensor_scalar for a number or a column of float32. Sizes of 1 broadcast as
in NumPy: free dimensions by a stride of 0, the partition dimension by a copy to all partitions.
"""
from nki import isa
from nki._errors import describe, error
from nki.language import _types
from nki.language._tiles import free_elements, is_scalar, is_tile, new_tile, out_of_psum, tile
from nki.language.memory import is_psum
from nki.language.shapes import broadcast_to, broadcast_view


def _common_shape(name, x, y):
    if x.ndim != y.ndim:
        raise error("shape", f"{name}: x has shape {x.shape} and y {y.shape}; expected as many "
                    "dimensions in both (nl.expand_dims adds one)")
    for a, b in zip(x.shape, y.shape):
        if a != b and a != 1 and b != 1:
            raise error("shape", f"{name}: x has shape {x.shape} and y {y.shape}; expected equal "
                        "sizes, or 1 where one is to be broadcast")
    return tuple(max(a, b) for a, b in zip(x.shape, y.shape))


def _spread(value, shape):
    """`value` as a tile of `shape`, without a copy where hardware can do without."""
    if value.shape == shape:
        return value
    if value.shape[0] != shape[0]:
        value = broadcast_to(value, (shape[0],) + value.shape[1:])
    return broadcast_view(value, shape)


def _is_column(value, other, shape):
    return (value.dtype == "float32" and free_elements(value) == 1 and
            value.shape[0] == shape[0] and other.shape == shape)


def _tile_with_tile(name, op, x, y, dtype, bitwise):
    tile(name, "x", x)
    tile(name, "y", y)
    shape = x.shape if x.shape == y.shape else _common_shape(name, x, y)
    result = new_tile(shape, dtype or _types.promote(x.dtype, y.dtype))
    if not bitwise and shape != y.shape and _is_column(y, x, shape):
        isa.tensor_scalar(dst=result, data=x, op0=op, operand0=y)
    elif not bitwise and shape != x.shape and _is_column(x, y, shape):
        isa.tensor_scalar(dst=result, data=y, op0=op, operand0=x, reverse0=True)
    else:
        x, y = _spread(x, shape), _spread(y, shape)
        if is_psum(x.buffer) and is_psum(y.buffer):
            y = out_of_psum(y)  # one of them may be in PSUM
        isa.tensor_tensor(dst=result, data1=x, data2=y, op=op)
    return result


def _tile_with_scalar(name, op, data, scalar, reverse, dtype):
    if not is_scalar(scalar):
        raise error("argument", f"{name}: {'x' if reverse else 'y'} is {describe(scalar)}; "
                    "expected a tile or a number")
    tile(name, "y" if reverse else "x", data)
    result = new_tile(data.shape, dtype or _types.promote_scalar(data.dtype, scalar))
    isa.tensor_scalar(dst=result, data=data, op0=op, operand0=scalar, reverse0=reverse)
    return result


def binary(name, op, x, y, dtype=None, bitwise=False):
    """x op y as a new tile in SBUF."""
    if is_tile(x):
        if is_tile(y):
            return _tile_with_tile(name, op, x, y, dtype, bitwise)
        return _tile_with_scalar(name, op, x, y, False, dtype)
    if is_tile(y):
        return _tile_with_scalar(name, op, y, x, True, dtype)
    raise error("argument", f"{name}: x is {describe(x)} and y {describe(y)}; expected "
                "a tile for one of them at least")
