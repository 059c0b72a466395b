"""New tensors: undefined, filled, like another one, constant.

nl.ndarray itself is the simulator's; what fills a tensor is an instruction: memset on the chip, a
DMA from a filled tile in HBM.
"""
import numbers

from nki import _core, isa
from nki._errors import describe, error
from nki.language._tiles import is_tile, new_tile, tile
from nki.language.memory import MemoryRegion, is_hbm, psum, sbuf, shared_hbm

ndarray = _core.ndarray

_FILL_ELEMENTS = 2048  # a partition, of the tile that fills HBM


def _value_of_type(name, value, dtype):
    """`value` as memset takes it: an int for integer types, a float for the others."""
    if not isinstance(value, numbers.Real):
        raise error("argument", f"{name}: the value is {describe(value)}; expected a number")
    if not dtype.is_integer:
        return float(value)
    if value != int(value):
        raise error("dtype", f"{name}: the value {value!r} has a fraction and the type is {dtype}; "
                    "give an integer or a float type")
    return int(value)


def _rows(tensor):
    """An HBM tensor as [rows, columns] with at most 128 rows, whatever its shape."""
    flat = tensor.reshape((1, tensor.size))
    rows = next(r for r in range(128, 0, -1) if tensor.size % r == 0)
    return flat.reshape((rows, tensor.size // rows))


def _fill_hbm(tensor, value):
    rows = _rows(tensor)
    width = min(rows.shape[1], _FILL_ELEMENTS)
    filled = new_tile((rows.shape[0], width), tensor.dtype)
    isa.memset(dst=filled, value=value)
    for start in range(0, rows.shape[1], width):
        part = rows[:, start:start + width]
        isa.dma_copy(dst=part, src=filled[:, :part.shape[1]])


def _filled(name, shape, value, dtype, buffer, tensor_name):
    result = ndarray(shape, dtype, buffer, tensor_name)
    value = _value_of_type(name, value, result.dtype)
    if is_hbm(buffer):
        _fill_hbm(result, value)
    else:
        isa.memset(dst=result, value=value)
    return result


def zeros(shape, dtype, buffer=sbuf, name=""):
    """A new tensor of zeros."""
    return _filled("zeros", shape, 0, dtype, buffer, name)


def ones(shape, dtype, buffer=sbuf, name=""):
    """A new tensor of ones."""
    return _filled("ones", shape, 1, dtype, buffer, name)


def full(shape, fill_value, dtype, buffer=sbuf, name=""):
    """A new tensor with `fill_value` everywhere."""
    return _filled("full", shape, fill_value, dtype, buffer, name)


def _tensor(name, value):
    if not is_tile(value):
        raise error("argument", f"{name}: x is {describe(value)}; expected a tensor")
    return value


def zeros_like(x, dtype=None, buffer=None, name=""):
    """Zeros of the shape and type of x, in SBUF unless told otherwise."""
    return zeros(_tensor("zeros_like", x).shape, dtype or x.dtype, buffer or sbuf, name)


def empty_like(x, dtype=None, buffer=None, name=""):
    """An undefined tensor of the shape, type and memory of x."""
    return ndarray(_tensor("empty_like", x).shape, dtype or x.dtype, buffer or x.buffer, name)


def shared_constant(constant):
    """A tensor in shared HBM that holds a NumPy array, or what a .npy file holds."""
    import numpy as np
    if isinstance(constant, str):
        constant = np.load(constant)
    if not isinstance(constant, np.ndarray):
        raise error("argument", f"shared_constant: given {describe(constant)}; expected a "
                    "NumPy array or the path of a .npy file")
    from nki import _arrays
    host = _arrays.describe(constant)
    return _core.input(host.shape, host.dtype, host.data() if _core.has_values() else None)


def shared_identity_matrix(n, dtype="uint8", dst=None):
    """The n x n identity matrix in SBUF (in `dst` when given), from a constant in HBM."""
    import numpy as np
    from nki import dtype as dtypes
    partitions = 128
    if not isinstance(n, int) or not 1 <= n <= partitions:
        raise error("partitions", f"shared_identity_matrix: n is {n!r}; expected 1 to {partitions}, "
                    "as its rows are partitions")
    constant = shared_constant(np.eye(n).astype(dtypes.to_numpy(dtype)))
    result = new_tile((n, n), dtype) if dst is None else tile("shared_identity_matrix", "dst", dst)
    isa.dma_copy(dst=result, src=constant)
    return result
